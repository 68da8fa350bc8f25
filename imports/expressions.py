"""The language of `math_transformer`: a small grammar, its tree, and two ways to compute it (contract 6).

    assignments = assignment { (";" | newline) assignment }
    assignment  = field "=" sum
    sum         = product { ("+" | "-") product }
    product     = unary { ("*" | "/") unary }
    unary       = { "+" | "-" } atom
    atom        = number | field | "(" sum ")" | function "(" sum { "," sum } ")"

There is nothing else to write: no powers, texts, attributes or names from outside. The tree becomes SQL
in which numbers are parameters and names are those of declared fields. A division is carried to
`DIVISION_SCALE` decimals; all else is exact.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Context, Decimal, localcontext

from psycopg.sql import SQL, Composable, Literal

LONGEST, DEEPEST, MOST_DIGITS, MOST_ASSIGNMENTS = 1000, 30, 20, 20
DIVISION_SCALE = 20
MOST_ARGUMENTS, MOST_OPERATIONS = 10, 100

TOKEN = re.compile(
    r"(?P<number>[0-9]+(?:\.[0-9]*)?|\.[0-9]+)|(?P<name>[A-Za-z_][A-Za-z_0-9]*)|(?P<mark>[-+*/(),=;])"
)
EXACT = Context(prec=5000, rounding=ROUND_HALF_UP, Emax=10**6, Emin=-(10**6))


class ExpressionError(ValueError):
    """What is wrong, and at which character of the text (counted from 1)."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(f"{message} (at character {position})")
        self.position = position


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
            # The scale of the dividend is what PostgreSQL takes the quotient's from. Nothing by zero.
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
            # least() and greatest() would pass over what is empty, and over NaN.
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
ARGUMENTS = {
    "round": (1, 2),
    "min": (2, MOST_ARGUMENTS),
    "max": (2, MOST_ARGUMENTS),
    "floor": (1, 1),
    "ceil": (1, 1),
    "abs": (1, 1),
}


@dataclass(frozen=True)
class Assignment:
    """`field = tree`."""

    field: str
    tree: Tree

    @property
    def inputs(self) -> frozenset[str]:
        """The fields that it is computed from."""
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


@dataclass(frozen=True)
class Token:
    kind: str
    text: str
    position: int


def tokens(text: str) -> list[Token]:
    """The words of the text; line breaks part assignments as `;` does."""
    if len(text) > LONGEST:
        raise ExpressionError(f"The expression is longer than {LONGEST} characters", LONGEST + 1)
    found, at = [], 0
    while at < len(text):
        if text[at] in " \t\r":
            at += 1
            continue
        match = TOKEN.match(text, at)
        if text[at] == "\n":
            found.append(Token("mark", ";", at + 1))
            at += 1
        elif match is None:
            raise ExpressionError(f"{text[at]!r} means nothing here", at + 1)
        else:
            found.append(Token(match.lastgroup or "", match.group(), at + 1))
            at = match.end()
    return [*found, Token("end", "", len(text) + 1)]


class Parser:
    """Reads one text, by recursive descent."""

    def __init__(self, text: str, names: Collection[str]) -> None:
        self.tokens, self.names, self.depth, self.operations = tokens(text), names, 0, 0

    @property
    def here(self) -> Token:
        return self.tokens[0]

    def take(self, *marks: str) -> Token | None:
        """The next word, if it is one of these marks."""
        return self.tokens.pop(0) if self.here.kind == "mark" and self.here.text in marks else None

    def expect(self, mark: str) -> None:
        if self.take(mark) is None:
            raise self.wrong(f"{mark!r} is expected here")

    def wrong(self, message: str) -> ExpressionError:
        found = "the text ends" if self.here.kind == "end" else f"there is {self.here.text!r}"
        return ExpressionError(f"{message}, but {found}", self.here.position)

    def name(self) -> str:
        token = self.here
        if token.kind != "name":
            raise self.wrong("A field's name is expected here")
        if token.text not in self.names:
            known = ", ".join(sorted(self.names))
            raise ExpressionError(f"There is no numeric field {token.text!r}; use {known}", token.position)
        return self.tokens.pop(0).text

    def assignments(self) -> list[Assignment]:
        found: list[Assignment] = []
        while self.here.kind != "end":
            if self.take(";"):
                continue
            if len(found) == MOST_ASSIGNMENTS:
                raise ExpressionError(
                    f"There are more than {MOST_ASSIGNMENTS} assignments", self.here.position
                )
            field = self.name()
            self.expect("=")
            found.append(Assignment(field, self.sum()))
            if self.here.kind != "end" and self.take(";") is None:
                raise self.wrong("An operator or ';' is expected here")
        return found

    def whole(self) -> Tree:
        tree = self.sum()
        if self.here.kind != "end":
            raise self.wrong("An operator is expected here")
        return tree

    def sum(self) -> Tree:
        self.depth += 1
        if self.depth > DEEPEST:
            raise ExpressionError(f"Nested deeper than {DEEPEST} levels", self.here.position)
        tree = self.product()
        while sign := self.take("+", "-"):
            tree = self.operation(sign, tree, self.product())
        self.depth -= 1
        return tree

    def product(self) -> Tree:
        tree = self.unary()
        while sign := self.take("*", "/"):
            if sign.text == "*" and self.here.text == "*":
                raise ExpressionError("There are no powers", self.here.position)
            tree = self.operation(sign, tree, self.unary())
        return tree

    def operation(self, sign: Token, left: Tree, right: Tree) -> Operation:
        self.operations += 1
        if self.operations > MOST_OPERATIONS:
            raise ExpressionError(f"There are more than {MOST_OPERATIONS} operations", sign.position)
        return Operation(sign.text, left, right)

    def unary(self) -> Tree:
        negative = False
        while sign := self.take("+", "-"):
            negative ^= sign.text == "-"
        tree = self.atom()
        return Negation(tree) if negative else tree

    def atom(self) -> Tree:
        if self.take("("):
            tree = self.sum()
            self.expect(")")
            return tree
        token = self.here
        if token.kind == "number":
            return self.number()
        if token.kind == "name" and token.text in ARGUMENTS and self.tokens[1].text == "(":
            return self.call()
        if token.kind == "name":
            return Field(self.name())
        raise self.wrong("A number, a field or '(' is expected here")

    def number(self) -> Number:
        token = self.tokens.pop(0)
        if len(token.text.replace(".", "")) > MOST_DIGITS:
            raise ExpressionError(f"A number has more than {MOST_DIGITS} digits", token.position)
        if self.here.kind in ("name", "number") and self.here.position == token.position + len(token.text):
            raise self.wrong("An operator is expected here")
        return Number(Decimal(token.text))

    def call(self) -> Call:
        token = self.tokens.pop(0)
        self.expect("(")
        arguments = [self.sum()]
        while self.take(","):
            arguments.append(self.sum())
        self.expect(")")
        least, most = ARGUMENTS[token.text]
        if not least <= len(arguments) <= most:
            wanted = str(least) if least == most else f"{least} to {most}"
            raise ExpressionError(f"{token.text} takes {wanted} arguments", token.position)
        places = arguments[1] if token.text == "round" and len(arguments) == 2 else None
        if places is not None and not _is_scale(places):
            raise ExpressionError("round takes a whole number of decimals from 0 to 10", token.position)
        return Call(token.text, tuple(arguments))


def _is_scale(tree: Tree) -> bool:
    return isinstance(tree, Number) and tree.value == int(tree.value) and tree.value <= 10


def parse_assignments(text: str, names: Collection[str]) -> list[Assignment]:
    """The assignments of a `math_transformer`, in order. Raises ExpressionError."""
    return Parser(text, names).assignments()


def parse_value(text: str) -> Tree:
    """An object's own transformer: an expression of `value`, or the rest of one (`*1.2`)."""
    stripped = text.strip()
    # `-5` could be a number or "five less"; beginning with an operator means the latter.
    continued = stripped[:1] in ("*", "/", "+", "-") and "value" not in stripped
    if not continued:
        return Parser(text, {"value"}).whole()
    try:
        return Parser(f"value {stripped}", {"value"}).whole()
    except ExpressionError as error:
        message = str(error).rpartition(" (at")[0]
        raise ExpressionError(message, max(error.position - len("value "), 1)) from None


def evaluate(tree: Tree, fields: Mapping[str, Decimal | None]) -> Decimal | None:
    """What the tree comes to, exactly; None where it cannot be computed. What the SQL is tested against."""
    with localcontext(EXACT):
        return tree.evaluate(fields)
