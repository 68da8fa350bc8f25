"""The value of a `math_transformer`, computed with Decimal. Tests compare the result of the SQL with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Context, Decimal, localcontext

from imports.pipeline.expressions import (
    DIVISION_SCALE,
    BinaryOperation,
    Field,
    Negation,
    NumberLiteral,
    Tree,
)

EXACT = Context(prec=5000, rounding=ROUND_HALF_UP, Emax=10**6, Emin=-(10**6))
FUNCTIONS: dict[str, Callable[[list[Decimal]], Decimal]] = {
    "round": lambda values: _round(values[0], int(values[1]) if len(values) == 2 else 0),
    "min": min,
    "max": max,
    "floor": lambda values: values[0].to_integral_value(ROUND_FLOOR),
    "ceil": lambda values: values[0].to_integral_value(ROUND_CEILING),
    "abs": lambda values: abs(values[0]),
}


def evaluate(tree: Tree, fields: Mapping[str, Decimal | None]) -> Decimal | None:
    """Return the exact value of the tree, or None if it cannot be computed."""
    with localcontext(EXACT):
        return _value(tree, fields)


def _value(tree: Tree, fields: Mapping[str, Decimal | None]) -> Decimal | None:
    if isinstance(tree, NumberLiteral):
        return tree.value
    if isinstance(tree, Field):
        return fields[tree.name]
    if isinstance(tree, Negation):
        value = _value(tree.operand, fields)
        return None if value is None else value.copy_negate()
    parts = (tree.left, tree.right) if isinstance(tree, BinaryOperation) else tree.arguments
    values = [_value(part, fields) for part in parts]
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return None
    return (
        _combined(tree.sign, *known) if isinstance(tree, BinaryOperation) else FUNCTIONS[tree.function](known)
    )


def _combined(sign: str, left: Decimal, right: Decimal) -> Decimal | None:
    if sign != "/":
        return {"+": left.__add__, "-": left.__sub__, "*": left.__mul__}[sign](right)
    return _round(_round(left, DIVISION_SCALE) / right, DIVISION_SCALE) if right else None


def _round(value: Decimal, places: int) -> Decimal:
    return value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
