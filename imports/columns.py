"""What a column of a file may hold: how its text becomes a value in SQL, and what can be wrong with it.

A value that cannot be read becomes one that no row can have (NaN, -infinity, '?'). So one comparison
with what is stored tells an unchanged row, and only rows that differ need their checks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from psycopg.sql import SQL, Composable, Composed, Literal

from api.errors import Invalid

BLANKS = " \t\r\n\u00a0\ufeff"


@dataclass(frozen=True)
class Fault:
    """A condition on a value that makes its row a reject, and the sentence that says so."""

    condition: Composable
    code: str | Composable
    message: Composable


@dataclass(frozen=True)
class Style:
    """How a numeric column of this file writes: whether `1.234` and `1,234` mean decimals or groups."""

    dot: str = "decimal"
    comma: str = "unknown"


@dataclass(frozen=True)
class Column:
    """A field that files may fill. Its database column has the same name."""

    name: str
    required: bool = False
    example: str = ""
    # Fields that a mapping may fill without being columns of the template.
    hidden: bool = False

    numeric: ClassVar[bool] = False
    splittable: ClassVar[bool] = False

    def value(self, cell: Composable, style: Style, raw: Composable | None = None) -> Composable:
        """The cell's trimmed text (never NULL) as this column's value; `raw` is it untouched, to be quick."""
        return cell

    def suspect(self, value: Composable) -> Composable | None:
        """A cheap condition that holds for every value with a fault; None where the faults are cheap."""
        return None

    def faults(self, value: Composable, cell: Composable) -> list[Fault]:
        """What may be wrong with a value; `cell` is only for the sentence."""
        return [self.missing(SQL("{} = ''").format(value))] if self.required else []

    def missing(self, condition: Composable) -> Fault:
        return Fault(condition, "required", text(f"{self.name} is mandatory and must not be empty."))


def text(message: str) -> Composable:
    return Literal(message)


def about(cell: Composable, message: str) -> Composed:
    """A sentence that begins with what the file has."""
    return SQL("format('%s: ', quote_literal(left({}, 40))) || {}").format(cell, Literal(message))


@dataclass(frozen=True)
class Text(Column):
    longest: int = 255

    def suspect(self, value: Composable) -> Composable:
        # Counting the characters of a long text costs more than all else that is done with it.
        long = SQL("octet_length({}) > {}").format(value, Literal(self.longest))
        return SQL("({} = '' OR {})").format(value, long) if self.required else long

    def faults(self, value: Composable, cell: Composable) -> list[Fault]:
        condition = SQL("length({}) > {}").format(value, Literal(self.longest))
        sentence = text(f"{self.name} is longer than {self.longest} characters.")
        return [*super().faults(value, cell), Fault(condition, "too_long", sentence)]


@dataclass(frozen=True)
class Number(Column):
    """An exact decimal from 0 up."""

    numeric: ClassVar[bool] = True
    whole_digits: int = 10
    decimals: int = 4

    def value(self, cell: Composable, style: Style, raw: Composable | None = None) -> Composable:
        return SQL(
            "CASE WHEN octet_length({raw}) < 40 AND {raw} ~ {usual} THEN {raw}::numeric"
            " WHEN {cell} = '' THEN NULL WHEN length({cell}) > 60 THEN 'NaN' ELSE {unusual} END"
        ).format(
            raw=raw or cell,
            cell=cell,
            usual=SQL("'^[0-9]+[.]?[0-9]*$'" if style.dot == "decimal" else "'^[0-9]+$'"),
            unusual=unusual_number(cell, style),
        )

    def suspect(self, value: Composable) -> Composable:
        # NaN is greater than all numbers.
        return SQL("({0} >= 0 AND {0} < {1} AND scale({0}) <= {2}) IS NOT TRUE").format(
            value, self._limit(), Literal(self.decimals)
        )

    def _limit(self) -> Composable:
        return SQL("{}::numeric").format(Literal(10**self.whole_digits))

    def faults(self, value: Composable, cell: Composable) -> list[Fault]:
        limit = self._limit()
        found = [self.missing(SQL("{} IS NULL").format(value))] if self.required else []
        return [
            *found,
            Fault(SQL("{} = 'NaN'").format(value), "not_a_number", self.unreadable(cell)),
            Fault(SQL("{} < 0").format(value), "min_value", text(f"{self.name} must not be negative.")),
            Fault(
                SQL("{0} >= {1} AND {0} <> 'NaN'").format(value, limit),
                "max_digits",
                text(f"{self.name} has more than {self.whole_digits} digits before the decimal point."),
            ),
            Fault(
                SQL("scale({0}) > {1} AND {0} <> round({0}, {1})").format(value, Literal(self.decimals)),
                "max_decimal_places",
                text(
                    f"{self.name} has more than {self.decimals} decimals."
                    if self.decimals
                    else f"{self.name} must be a whole number."
                ),
            ),
        ]

    def unreadable(self, cell: Composable) -> Composable:
        return SQL("CASE WHEN {cell} ~ {ambiguous} THEN {two_ways} ELSE {no_number} END").format(
            cell=cell,
            ambiguous=Literal("^[-+]?[1-9][0-9]{0,2}[.,][0-9]{3}$"),
            two_ways=about(cell, "can be read two ways, with decimals or with thousands; write it plainly."),
            no_number=about(cell, f"is not a number such as {'19.99' if self.decimals else '25'}."),
        )


# What is one way only, whatever the file's habits. Groups of three digits never begin with a 0.
PLAIN = "^[-+]?([0-9]*[.][0-9]+|[0-9]+[.]?)$"
COMMA_DECIMAL = "^[-+]?[0-9]*,[0-9]+$"
COMMA_GROUPS = "^[-+]?[1-9][0-9]{0,2}((,[0-9]{3})+[.][0-9]*|(,[0-9]{3}){2,})$"
DOT_GROUPS = "^[-+]?[1-9][0-9]{0,2}(([.][0-9]{3})+,[0-9]*|([.][0-9]{3}){2,})$"
DOT_EITHER = "^[-+]?[1-9][0-9]{0,2}[.][0-9]{3}$"
COMMA_EITHER = "^[-+]?[1-9][0-9]{0,2},[0-9]{3}$"


def unusual_number(cell: Composable, style: Style) -> Composable:
    as_is = SQL("{}::numeric").format(cell)
    without_commas = SQL("replace({}, ',', '')::numeric").format(cell)
    commas_to_dots = SQL("replace(replace({}, '.', ''), ',', '.')::numeric").format(cell)
    never = SQL("'NaN'")
    dot = {"decimal": as_is, "group": commas_to_dots, "unknown": never}[style.dot]
    comma = {"decimal": commas_to_dots, "group": without_commas, "unknown": never}[style.comma]
    cases: Sequence[tuple[str, Composable]] = (
        (DOT_EITHER, dot),
        (COMMA_EITHER, comma),
        (PLAIN, as_is),
        (COMMA_DECIMAL, commas_to_dots),
        (COMMA_GROUPS, without_commas),
        (DOT_GROUPS, commas_to_dots),
    )
    whens = SQL(" ").join(
        SQL("WHEN {} ~ {} THEN {}").format(cell, Literal(pattern), value) for pattern, value in cases
    )
    return SQL("CASE {} ELSE 'NaN' END").format(whens)


def shows_decimal_dots(cell: Composable) -> Composable:
    """Whether a cell can only be meant with a decimal point."""
    return SQL("({0} ~ '[.,]' AND ({0} ~ {1} AND {0} !~ {2} OR {0} ~ {3}))").format(
        cell, Literal(PLAIN), Literal(DOT_EITHER), Literal(COMMA_GROUPS)
    )


def shows_decimal_commas(cell: Composable) -> Composable:
    """Whether a cell can only be meant with a decimal comma."""
    return SQL("({0} ~ '[.,]' AND ({0} ~ {1} AND {0} !~ {2} OR {0} ~ {3}))").format(
        cell, Literal(COMMA_DECIMAL), Literal(COMMA_EITHER), Literal(DOT_GROUPS)
    )


@dataclass(frozen=True)
class Barcode(Column):
    """A GS1 number of one of these lengths, with its check digit."""

    lengths: tuple[int, ...] = ()

    def suspect(self, value: Composable) -> Composable:
        return SQL("({} <> '' AND {})").format(value, self._fits(value, "IS NOT TRUE"))

    def _fits(self, value: Composable, test: str) -> Composable:
        """Whether digits, length and check digit are right; weights of 3 and 1 from the right, as of GS1.

        The digits are read as hexadecimal ones: in each byte of that number stand one to be taken three
        times and one to be taken once, so all are weighed at once, and 256 % 255 = 1 adds the bytes up.
        """
        number = SQL("((CASE WHEN octet_length({0}) % 2 = 1 THEN 'x0' ELSE 'x' END || {0})::bit(56)::bigint)")
        weighed = SQL("((({0} >> 4) & {1}) * 3 + ({0} & {1})) % 255 % 10 = 0").format(
            number.format(value), Literal(0x0F0F0F0F0F0F0F)
        )
        return SQL(
            "CASE WHEN octet_length({0}) = ANY({1}) AND {0} ~ '^[0-9]+$' THEN {2} ELSE false END {3}"
        ).format(value, Literal(list(self.lengths)), weighed, SQL(test))

    def faults(self, value: Composable, cell: Composable) -> list[Fault]:
        sizes = " or ".join(map(str, self.lengths))
        shaped = SQL("(octet_length({0}) = ANY({1}) AND {0} ~ '^[0-9]+$')").format(
            value, Literal(list(self.lengths))
        )
        spreadsheet = SQL("CASE WHEN {} ~ '^[0-9][0-9.,]*[eE][+]' THEN {} ELSE {} END").format(
            cell,
            about(cell, "was rounded by a spreadsheet; format the column as text."),
            about(cell, f"is not a number of {sizes} digits; leading zeros count."),
        )
        return [
            Fault(
                self.suspect(value),
                SQL("CASE WHEN {} THEN 'check_digit' ELSE 'invalid_barcode' END").format(shaped),
                SQL("CASE WHEN {} THEN {} ELSE {} END").format(
                    shaped, about(cell, "has a wrong check digit."), spreadsheet
                ),
            )
        ]


NO_URL = '[|[:space:]<>"]'
URLS = '^(https?://[^|[:space:]<>"]+([|]https?://[^|[:space:]<>"]+)*)?$'
DATE = "(19|2[0-9])[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
CLOCK = "([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?"
ZONE = " ?(Z|[-+](0[0-9]|1[0-4]):?[0-5][0-9])?"


@dataclass(frozen=True)
class Moment(Column):
    """An ISO 8601 date-time, in UTC unless it says otherwise, or a date: its first instant."""

    def value(self, cell: Composable, style: Style, raw: Composable | None = None) -> Composable:
        return SQL(
            "CASE WHEN {cell} = '' THEN NULL WHEN {cell} !~ {shape} THEN '-infinity'"
            " WHEN substr({cell}, 9, 2)::int > extract(day FROM make_date(substr({cell}, 1, 4)::int,"
            " substr({cell}, 6, 2)::int, 1) + interval '1 month - 1 day') THEN '-infinity'"
            " ELSE ({cell})::timestamptz END"
        ).format(cell=cell, shape=Literal(f"^{DATE}([T ]{CLOCK}{ZONE})?$"))

    def faults(self, value: Composable, cell: Composable) -> list[Fault]:
        return [
            Fault(
                SQL("{} = '-infinity'").format(value),
                "invalid_date",
                about(
                    cell, "is not a date-time such as 2026-01-31T12:00:00Z, nor a date such as 2026-01-31."
                ),
            )
        ]


@dataclass(frozen=True)
class Flag(Column):
    """true or false, as text; empty leaves the field alone."""

    def value(self, cell: Composable, style: Style, raw: Composable | None = None) -> Composable:
        return SQL(
            "CASE WHEN {0} = '' THEN '' WHEN lower({0}) IN ('true', 'yes', 'y', '1') THEN 'true'"
            " WHEN lower({0}) IN ('false', 'no', 'n', '0') THEN 'false' ELSE '?' END"
        ).format(cell)

    def faults(self, value: Composable, cell: Composable) -> list[Fault]:
        return [Fault(SQL("{} = '?'").format(value), "invalid", about(cell, "is neither true nor false."))]


@dataclass(frozen=True)
class Lines(Column):
    """Several texts in one cell, parted by | or line breaks, as an array."""

    splittable: ClassVar[bool] = True

    def value(self, cell: Composable, style: Style, raw: Composable | None = None) -> Composable:
        return SQL(
            "CASE WHEN {0} = '' THEN ARRAY[]::text[] ELSE ARRAY(SELECT btrim(part)"
            " FROM regexp_split_to_table({0}, '[|\n\r]+') WITH ORDINALITY AS t (part, place)"
            " WHERE btrim(part) <> '' ORDER BY place) END"
        ).format(cell)

    def faults(self, value: Composable, cell: Composable) -> list[Fault]:
        return []


@dataclass(frozen=True)
class Urls(Column):
    """URLs as one text, parted by |, commas or blanks; kept parted by |."""

    splittable: ClassVar[bool] = True

    def value(self, cell: Composable, style: Style, raw: Composable | None = None) -> Composable:
        return SQL(
            "CASE WHEN {raw} !~ {parting} THEN {raw}"
            " ELSE btrim(regexp_replace({cell}, '[|,[:space:]]+', '|', 'g'), '|') END"
        ).format(raw=raw or cell, cell=cell, parting=Literal(f"[,[:space:]{BLANKS}]|[|]([|]|$)|^[|]"))

    def suspect(self, value: Composable) -> Composable:
        # Looking for one character that may not be is quicker than finding each of them in order.
        one = SQL("({0} LIKE 'http://_%%' OR {0} LIKE 'https://_%%') AND {0} !~ {1}").format(
            value, Literal(NO_URL)
        )
        return SQL("({} <> '' AND ({}) IS NOT TRUE)").format(value, one)

    def faults(self, value: Composable, cell: Composable) -> list[Fault]:
        return [
            Fault(
                SQL("{} !~* {}").format(value, Literal(URLS)),
                "invalid_url",
                about(cell, f"{self.name} must be URLs such as https://example.com/1.jpg, parted by |."),
            )
        ]


@dataclass(frozen=True)
class Pairs(Column):
    """Options or properties of a variant: `[{"type": "color", "value": "Blue"}]`, as a JSON array."""

    splittable: ClassVar[bool] = True
    key: str = "name"
    choices: tuple[str, ...] = ()

    def subtype(self, given: str, source: str, path: str) -> str:
        """What the values of a source column are called. Raises Invalid."""
        name = given or source
        if not self.choices:
            return name
        if name.casefold() in self.choices:
            return name.casefold()
        known = ", ".join(self.choices)
        raise Invalid.at(
            path, f"The {self.name}_type must be one of {known}; so {self.name}.{self.choices[0]}."
        )

    def faults(self, value: Composable, cell: Composable) -> list[Fault]:
        return []
