"""The tree of a `math_transformer`, with its SQL (contract 6).

Numbers are SQL parameters, and names are declared fields. A division is rounded to `DIVISION_SCALE`
decimals; everything else is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Context, Decimal, localcontext

from psycopg.sql import SQL, Composable, Literal

DIVISION_SCALE = 20
EXACT = Context(prec=5000, rounding=ROUND_HALF_UP, Emax=10**6, Emin=-(10**6))


@dataclass(frozen=True)
class Number:
    value: Decimal

    def sql(self, fields: Mapping[str, Composable]) -> Composable:
        return SQL("{}::numeric").format(Literal(self.value))

    def evaluate(self, fields: Mapping[str, Decimal | None]) -> Decimal | None:
        return self.value


@dataclass(frozen=True)
class Field:
    name: str

    def sql(self, fields: Mapping[str, Composable]) -> Composable:
        return fields[self.name]

    def evaluate(self, fields: Mapping[str, Decimal | None]) -> Decimal | None:
        return fields[self.name]


@dataclass(frozen=True)
class Negation:
    operand: Tree

    def sql(self, fields: Mapping[str, Composable]) -> Composable:
        return SQL("(- {})").format(self.operand.sql(fields))

    def evaluate(self, fields: Mapping[str, Decimal | None]) -> Decimal | None:
        value = self.operand.evaluate(fields)
        return None if value is None else value.copy_negate()


@dataclass(frozen=True)
class Operation:
    sign: str
    left: Tree
    right: Tree

    def sql(self, fields: Mapping[str, Composable]) -> Composable:
        left, right = self.left.sql(fields), self.right.sql(fields)
        if self.sign == "/":
            # PostgreSQL derives the scale of a quotient from the dividend. A division by zero gives NULL.
            return SQL("round(round({}, {scale}) / nullif({}, 0), {scale})").format(
                left, right, scale=Literal(DIVISION_SCALE)
            )
        return SQL("({} {} {})").format(left, SQL({"+": "+", "-": "-", "*": "*"}[self.sign]), right)

    def evaluate(self, fields: Mapping[str, Decimal | None]) -> Decimal | None:
        left, right = self.left.evaluate(fields), self.right.evaluate(fields)
        if left is None or right is None or (self.sign == "/" and right == 0):
            return None
        if self.sign == "/":
            return _round(_round(left, DIVISION_SCALE) / right, DIVISION_SCALE)
        return {"+": left.__add__, "-": left.__sub__, "*": left.__mul__}[self.sign](right)


@dataclass(frozen=True)
class Call:
    function: str
    arguments: tuple[Tree, ...]

    def sql(self, fields: Mapping[str, Composable]) -> Composable:
        parts = [argument.sql(fields) for argument in self.arguments]
        if self.function == "round":
            places = self.arguments[1] if len(parts) == 2 else Number(Decimal(0))
            assert isinstance(places, Number)
            return SQL("round({}, {})").format(parts[0], Literal(int(places.value)))
        if self.function in ("min", "max"):
            # least() and greatest() would ignore empty values and NaN.
            rows = SQL(", ").join(SQL("({})").format(part) for part in parts)
            chosen = SQL("min(x)" if self.function == "min" else "max(x)")
            return SQL(
                "(SELECT CASE WHEN count(*) = count(nullif(x, 'NaN')) THEN {} END FROM (VALUES {}) AS v (x))"
            ).format(chosen, rows)
        return SQL({"floor": "floor({})", "ceil": "ceil({})", "abs": "abs({})"}[self.function]).format(
            parts[0]
        )

    def evaluate(self, fields: Mapping[str, Decimal | None]) -> Decimal | None:
        values = [argument.evaluate(fields) for argument in self.arguments]
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            return None
        return FUNCTIONS[self.function](known)


Tree = Number | Field | Negation | Operation | Call


def _round(value: Decimal, places: int) -> Decimal:
    return value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)


FUNCTIONS: dict[str, Callable[[list[Decimal]], Decimal]] = {
    "round": lambda values: _round(values[0], int(values[1]) if len(values) == 2 else 0),
    "min": min,
    "max": max,
    "floor": lambda values: values[0].to_integral_value(ROUND_FLOOR),
    "ceil": lambda values: values[0].to_integral_value(ROUND_CEILING),
    "abs": lambda values: abs(values[0]),
}


@dataclass(frozen=True)
class Assignment:
    """`field = tree`."""

    field: str
    tree: Tree

    @property
    def inputs(self) -> frozenset[str]:
        """Return the fields that the assignment reads."""
        return _fields(self.tree)


def _fields(tree: Tree) -> frozenset[str]:
    if isinstance(tree, Field):
        return frozenset({tree.name})
    if isinstance(tree, Negation):
        return _fields(tree.operand)
    if isinstance(tree, Operation):
        return _fields(tree.left) | _fields(tree.right)
    if isinstance(tree, Call):
        return frozenset().union(*map(_fields, tree.arguments))
    return frozenset()


def evaluate(tree: Tree, fields: Mapping[str, Decimal | None]) -> Decimal | None:
    """What the tree comes to, exactly; None where it cannot be computed. What the SQL is tested against."""
    with localcontext(EXACT):
        return tree.evaluate(fields)
