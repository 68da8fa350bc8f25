"""The language of `math_transformer`: a small grammar, read by recursive descent (contract 6).

    assignments = assignment { (";" | newline) assignment }
    assignment  = field "=" sum
    sum         = product { ("+" | "-") product }
    product     = unary { ("*" | "/") unary }
    unary       = { "+" | "-" } atom
    atom        = number | field | "(" sum ")" | function "(" sum { "," sum } ")"

Nothing else is allowed: no powers, strings, attributes or outside names.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from decimal import Decimal

from imports.pipeline.expressions import (
    Assignment,
    BinaryOperation,
    Call,
    Field,
    Negation,
    NumberLiteral,
    Tree,
)

LONGEST, DEEPEST, MOST_DIGITS, MOST_ASSIGNMENTS = 1000, 30, 20, 20
MOST_ARGUMENTS, MOST_OPERATIONS = 10, 100

TOKEN = re.compile(
    r"(?P<number>[0-9]+(?:\.[0-9]*)?|\.[0-9]+)|(?P<name>[A-Za-z_][A-Za-z_0-9]*)|(?P<mark>[-+*/(),=;])"
)
ARGUMENTS = {
    "round": (1, 2),
    "min": (2, MOST_ARGUMENTS),
    "max": (2, MOST_ARGUMENTS),
    "floor": (1, 1),
    "ceil": (1, 1),
    "abs": (1, 1),
}


class ExpressionError(ValueError):
    """A fault in an expression, with its position in the text (counted from 1)."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(f"{message} (at character {position})")
        self.position = position


@dataclass(frozen=True)
class Token:
    kind: str
    text: str
    position: int


def tokens(text: str) -> list[Token]:
    """Split the text into tokens; a line break separates assignments like `;`."""
    if len(text) > LONGEST:
        raise ExpressionError(f"The expression is longer than {LONGEST} characters", LONGEST + 1)
    result, at = [], 0
    while at < len(text):
        if text[at] in " \t\r":
            at += 1
            continue
        match = TOKEN.match(text, at)
        if text[at] == "\n":
            result.append(Token("mark", ";", at + 1))
            at += 1
        elif match is None:
            raise ExpressionError(f"{text[at]!r} is not allowed here", at + 1)
        else:
            result.append(Token(match.lastgroup or "", match.group(), at + 1))
            at = match.end()
    return [*result, Token("end", "", len(text) + 1)]


class Parser:
    def __init__(self, text: str, names: Collection[str]) -> None:
        self.tokens, self.names, self.depth, self.operations = tokens(text), names, 0, 0

    @property
    def next(self) -> Token:
        return self.tokens[0]

    def take(self, *marks: str) -> Token | None:
        """Take the next token if it is one of these marks."""
        return self.tokens.pop(0) if self.next.kind == "mark" and self.next.text in marks else None

    def expect(self, mark: str) -> None:
        if self.take(mark) is None:
            raise self.wrong(f"{mark!r} is expected here")

    def wrong(self, message: str) -> ExpressionError:
        found = "the text ends" if self.next.kind == "end" else f"there is {self.next.text!r}"
        return ExpressionError(f"{message}, but {found}", self.next.position)

    def name(self) -> str:
        token = self.next
        if token.kind != "name":
            raise self.wrong("A field's name is expected here")
        if token.text not in self.names:
            known = ", ".join(sorted(self.names))
            raise ExpressionError(f"There is no numeric field {token.text!r}; use {known}", token.position)
        return self.tokens.pop(0).text

    def assignments(self) -> list[Assignment]:
        found: list[Assignment] = []
        while self.next.kind != "end":
            if self.take(";"):
                continue
            if len(found) == MOST_ASSIGNMENTS:
                raise ExpressionError(
                    f"There are more than {MOST_ASSIGNMENTS} assignments", self.next.position
                )
            field = self.name()
            self.expect("=")
            found.append(Assignment(field, self.sum()))
            if self.next.kind != "end" and self.take(";") is None:
                raise self.wrong("An operator or ';' is expected here")
        return found

    def whole(self) -> Tree:
        tree = self.sum()
        if self.next.kind != "end":
            raise self.wrong("An operator is expected here")
        return tree

    def sum(self) -> Tree:
        self.depth += 1
        if self.depth > DEEPEST:
            raise ExpressionError(f"Nested deeper than {DEEPEST} levels", self.next.position)
        tree = self.product()
        while sign := self.take("+", "-"):
            tree = self.operation(sign, tree, self.product())
        self.depth -= 1
        return tree

    def product(self) -> Tree:
        tree = self.unary()
        while sign := self.take("*", "/"):
            if sign.text == "*" and self.next.text == "*":
                raise ExpressionError("Powers are not supported", self.next.position)
            tree = self.operation(sign, tree, self.unary())
        return tree

    def operation(self, sign: Token, left: Tree, right: Tree) -> BinaryOperation:
        self.operations += 1
        if self.operations > MOST_OPERATIONS:
            raise ExpressionError(f"There are more than {MOST_OPERATIONS} operations", sign.position)
        return BinaryOperation(sign.text, left, right)

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
        token = self.next
        if token.kind == "number":
            return self.number()
        if token.kind == "name" and token.text in ARGUMENTS and self.tokens[1].text == "(":
            return self.call()
        if token.kind == "name":
            return Field(self.name())
        raise self.wrong("A number, a field or '(' is expected here")

    def number(self) -> NumberLiteral:
        token = self.tokens.pop(0)
        if len(token.text.replace(".", "")) > MOST_DIGITS:
            raise ExpressionError(f"A number has more than {MOST_DIGITS} digits", token.position)
        if self.next.kind in ("name", "number") and self.next.position == token.position + len(token.text):
            raise self.wrong("An operator is expected here")
        return NumberLiteral(Decimal(token.text))

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
    return isinstance(tree, NumberLiteral) and tree.value == int(tree.value) and tree.value <= 10


def parse_assignments(text: str, names: Collection[str]) -> list[Assignment]:
    """Return the assignments of a `math_transformer`, in order. Raises ExpressionError."""
    return Parser(text, names).assignments()


def parse_value(text: str) -> Tree:
    """Parse the transformer of one entry: an expression with `value`, or the part after `value` (`*1.2`)."""
    stripped = text.strip()
    # `-5` could mean the number -5 or `value - 5`. A leading operator means `value - 5`.
    continued = stripped[:1] in ("*", "/", "+", "-") and "value" not in stripped
    if not continued:
        return Parser(text, {"value"}).whole()
    try:
        return Parser(f"value {stripped}", {"value"}).whole()
    except ExpressionError as error:
        message = str(error).rpartition(" (at")[0]
        before = len(text) - len(text.lstrip()) - len("value ")
        raise ExpressionError(message, max(error.position + before, 1)) from None
