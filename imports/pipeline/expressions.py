"""The tree of a `math_transformer`, with its SQL (contract 6).

Numbers are SQL parameters, and names are declared fields. A division is rounded to `DIVISION_SCALE`
decimals; everything else is exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from psycopg.sql import SQL, Composable, Literal

DIVISION_SCALE = 20


@dataclass(frozen=True)
class NumberLiteral:
    value: Decimal

    def sql(self, fields: Mapping[str, Composable]) -> Composable:
        return SQL("{}::numeric").format(Literal(self.value))


@dataclass(frozen=True)
class Field:
    name: str

    def sql(self, fields: Mapping[str, Composable]) -> Composable:
        return fields[self.name]


@dataclass(frozen=True)
class Negation:
    operand: Tree

    def sql(self, fields: Mapping[str, Composable]) -> Composable:
        return SQL("(- {})").format(self.operand.sql(fields))


@dataclass(frozen=True)
class BinaryOperation:
    sign: str
    left: Tree
    right: Tree

    def sql(self, fields: Mapping[str, Composable]) -> Composable:
        left, right = self.left.sql(fields), self.right.sql(fields)
        if self.sign == "/":
            # Round the dividend first, because PostgreSQL derives the scale of a quotient from it. A division
            # by zero gives NULL.
            return SQL("round(round({}, {scale}) / nullif({}, 0), {scale})").format(
                left, right, scale=Literal(DIVISION_SCALE)
            )
        return SQL("({} {} {})").format(left, SQL({"+": "+", "-": "-", "*": "*"}[self.sign]), right)


@dataclass(frozen=True)
class Call:
    function: str
    arguments: tuple[Tree, ...]

    def sql(self, fields: Mapping[str, Composable]) -> Composable:
        parts = [argument.sql(fields) for argument in self.arguments]
        if self.function == "round":
            places = self.arguments[1] if len(parts) == 2 else NumberLiteral(Decimal(0))
            assert isinstance(places, NumberLiteral)
            return SQL("round({}, {})").format(parts[0], Literal(int(places.value)))
        if self.function in ("min", "max"):
            # Do not use least() and greatest(): they ignore empty values, and least() also ignores NaN.
            rows = SQL(", ").join(SQL("({})").format(part) for part in parts)
            chosen = SQL("min(x)" if self.function == "min" else "max(x)")
            return SQL(
                "(SELECT CASE WHEN count(*) = count(nullif(x, 'NaN')) THEN {} END FROM (VALUES {}) AS v (x))"
            ).format(chosen, rows)
        return SQL({"floor": "floor({})", "ceil": "ceil({})", "abs": "abs({})"}[self.function]).format(
            parts[0]
        )


Tree = NumberLiteral | Field | Negation | BinaryOperation | Call


@dataclass(frozen=True)
class Assignment:
    """An assignment `field = tree`."""

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
    if isinstance(tree, BinaryOperation):
        return _fields(tree.left) | _fields(tree.right)
    if isinstance(tree, Call):
        return frozenset().union(*map(_fields, tree.arguments))
    return frozenset()
