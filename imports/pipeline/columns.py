"""The columns that a file may have: the SQL that turns text into a value, and the rules for the value.

An unreadable text becomes a value that no stored row can have (NaN, -infinity, '?'). Therefore one comparison
finds the rows that equal their stored rows, and only the other rows need checks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from psycopg.sql import SQL, Composable, Composed, Literal

from api.errors import Invalid

# White space, as the API removes it around a text, and invisible characters in text from a web page.
BLANKS = (
    " \t\r\n\u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff\u200b\u200c\u200d\u2060"
)
# A long number that a spreadsheet rounded, such as `1.23E+12`.
ROUNDED = r"^[0-9]([.,][0-9]+)?e[+][0-9]+$"
# The result of a formula that failed. As a key, it would make one product of many rows.
FORMULA_ERRORS = ("#N/A", "#REF!", "#VALUE!", "#NAME?", "#DIV/0!", "#NUM!", "#NULL!", "#SPILL!", "#CALC!")
# Invisible characters that may be inside a word.
INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff\u00ad"


@dataclass(frozen=True)
class RowRule:
    """A condition under which a row is rejected, with the message that explains the reason."""

    condition: Composable
    code: str | Composable
    message: Composable
    # Whether the value cannot be read at all. A computed field has its own message for an unreadable value.
    is_unreadable: bool = False


@dataclass(frozen=True)
class Style:
    """The notation of a numeric column in a file: whether `1.234` and `1,234` mean decimals or thousands."""

    dot: str = "decimal"
    comma: str = "unknown"


@dataclass(frozen=True)
class FileColumn:
    """A field that files may fill. Its database column has the same name."""

    name: str
    required: bool = False
    example: str = ""
    # Whether the field is left out of the template; a mapping may still fill it.
    hidden: bool = False
    # Whether rows are found by this field.
    is_key: bool = False

    numeric: ClassVar[bool] = False
    splittable: ClassVar[bool] = False

    def value(self, cell: Composable, style: Style, raw: Composable | None = None) -> Composable:
        """Return the value of a trimmed, non-NULL cell. `raw` is the cell before trimming, for fast tests."""
        return cell

    def in_currency(self, currency: str) -> FileColumn:
        """Return the column for a file of a supplier whose prices are in this currency."""
        return self

    def suspect(self, value: Composable) -> Composable | None:
        """Return a quick condition that is true for every wrong value, and perhaps for some correct values.

        The rules check only rows with a value that meets it. Return None if the rules are quick themselves.
        """
        return None

    def rules(self, value: Composable, cell: Composable) -> list[RowRule]:
        """Return the rules of a value; `cell` is only used in messages."""
        return [self.missing(SQL("{} = ''").format(value))] if self.required else []

    def missing(self, condition: Composable) -> RowRule:
        return RowRule(condition, "required", text(f"{self.name} is mandatory and must not be empty."))


def text(message: str) -> Composable:
    return Literal(message)


def about(cell: Composable, message: str) -> Composed:
    """Return a message that begins with the cell's text."""
    return SQL("{0} || left({1}, 40) || {0} || {2}").format(Literal("'"), cell, Literal(f": {message}"))


@dataclass(frozen=True)
class TextColumn(FileColumn):
    longest: int = 255

    def suspect(self, value: Composable) -> Composable:
        # Compare bytes first: counting the characters of a long text costs more than all other checks.
        tests: list[Composable] = [SQL("octet_length({}) > {}").format(value, Literal(self.longest))]
        tests += [SQL("{} = ''").format(value)] if self.required else []
        if self.is_key:
            tests += [self._holds_invisible(value), self._was_rounded(value), self._is_error(value)]
        return SQL("({})").format(SQL(" OR ").join(tests))

    def _holds_invisible(self, value: Composable) -> Composable:
        return SQL("(octet_length({0}) > length({0}) AND {0} ~ {1})").format(value, Literal(f"[{INVISIBLE}]"))

    def _was_rounded(self, value: Composable) -> Composable:
        """Return the condition that a spreadsheet rounded a long number. Several numbers then look alike."""
        return SQL("(strpos({0}, '+') > 0 AND {0} ~* {1})").format(value, Literal(ROUNDED))

    def _is_error(self, value: Composable) -> Composable:
        """Return the condition that the value is the error of a spreadsheet formula."""
        return SQL("(starts_with({0}, '#') AND upper({0}) = ANY({1}))").format(
            value, Literal(list(FORMULA_ERRORS))
        )

    def rules(self, value: Composable, cell: Composable) -> list[RowRule]:
        condition = SQL("length({}) > {}").format(value, Literal(self.longest))
        sentence = text(f"{self.name} is longer than {self.longest} characters.")
        rules = [*super().rules(value, cell), RowRule(condition, "too_long", sentence)]
        # Refuse invisible characters in a key: two keys could look the same and name different rows.
        if self.is_key:
            at = SQL("length(substring({} FROM {})) + 1").format(value, Literal(f"^[^{INVISIBLE}]*"))
            which = SQL("upper(lpad(to_hex(ascii(substr({}, {}, 1))), 4, '0'))").format(value, at)
            message = SQL("format('Character %s of {} is U+%s, which is invisible. Remove it.', {}, {})")
            invisible = message.format(SQL(self.name), at, which)
            rules.append(RowRule(self._holds_invisible(value), "invisible", invisible))
            rounded = about(cell, "was rounded by a spreadsheet; format the column as text.")
            rules.append(RowRule(self._was_rounded(value), "damaged_text", rounded))
            failed = about(cell, "is the error of a spreadsheet formula. Correct the formula.")
            rules.append(RowRule(self._is_error(value), "invalid", failed))
        return rules


A_URL = '^https?://[^|[:space:]<>"]+$'
DATE = "(19|2[0-9])[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
# WooCommerce writes midnight as `0:00:00`.
CLOCK = "([01]?[0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?"
ZONE = " ?(Z|[-+](0[0-9]|1[0-4]):?[0-5][0-9])?"


@dataclass(frozen=True)
class MomentColumn(FileColumn):
    """An ISO 8601 date-time or date. The default zone is UTC; a date means the first moment of the day."""

    def value(self, cell: Composable, style: Style, raw: Composable | None = None) -> Composable:
        return SQL(
            "CASE WHEN {cell} = '' THEN NULL WHEN {cell} !~ {shape} THEN '-infinity'"
            " WHEN substr({cell}, 9, 2)::int > extract(day FROM make_date(substr({cell}, 1, 4)::int,"
            " substr({cell}, 6, 2)::int, 1) + interval '1 month - 1 day') THEN '-infinity'"
            " ELSE ({cell})::timestamptz END"
        ).format(cell=cell, shape=Literal(f"^{DATE}([T ]{CLOCK}{ZONE})?$"))

    def rules(self, value: Composable, cell: Composable) -> list[RowRule]:
        return [
            RowRule(
                SQL("{} = '-infinity'").format(value),
                "invalid_date",
                about(
                    cell, "is not a date-time such as 2026-01-31T12:00:00Z, nor a date such as 2026-01-31."
                ),
            )
        ]


@dataclass(frozen=True)
class FlagColumn(FileColumn):
    """A column with true or false as text; an empty cell leaves the field unchanged."""

    def value(self, cell: Composable, style: Style, raw: Composable | None = None) -> Composable:
        return SQL(
            "CASE WHEN {0} = '' THEN '' WHEN lower({0}) IN ('true', 'yes', 'y', '1') THEN 'true'"
            " WHEN lower({0}) IN ('false', 'no', 'n', '0') THEN 'false' ELSE '?' END"
        ).format(cell)

    def rules(self, value: Composable, cell: Composable) -> list[RowRule]:
        return [RowRule(SQL("{} = '?'").format(value), "invalid", about(cell, "is neither true nor false."))]


@dataclass(frozen=True)
class Lines(FileColumn):
    """Several strings in one cell, separated by | or line breaks, as an array."""

    splittable: ClassVar[bool] = True

    def value(self, cell: Composable, style: Style, raw: Composable | None = None) -> Composable:
        return SQL(
            "CASE WHEN {0} = '' THEN ARRAY[]::text[] ELSE ARRAY(SELECT btrim(part)"
            " FROM regexp_split_to_table({0}, '[|\n\r]+') WITH ORDINALITY AS t (part, place)"
            " WHERE btrim(part) <> '' ORDER BY place) END"
        ).format(cell)

    def rules(self, value: Composable, cell: Composable) -> list[RowRule]:
        return []


@dataclass(frozen=True)
class Urls(FileColumn):
    """URLs as one string, separated by |, commas or blanks; stored separated by |.

    Texts that are no URLs are left out, with a warning (`MappedFile.notes`).
    """

    splittable: ClassVar[bool] = True

    def value(self, cell: Composable, style: Style, raw: Composable | None = None) -> Composable:
        # Search for forbidden characters: this is faster than matching a list of URLs.
        return SQL(
            "CASE WHEN {raw} = '' OR (({raw} LIKE 'http://_%%' OR {raw} LIKE 'https://_%%')"
            " AND {raw} !~ {forbidden}) THEN {raw}"
            " ELSE (SELECT coalesce(string_agg(part, '|' ORDER BY place), '')"
            " FROM regexp_split_to_table({cell}, {between}) WITH ORDINALITY AS u (part, place)"
            " WHERE part ~* {a_url}) END"
        ).format(
            raw=raw or cell,
            cell=cell,
            forbidden=Literal(f'[,[:space:]{BLANKS}<>"]|[|](?!https?://[^|])'),
            between=Literal(f"[|,[:space:]{BLANKS}]+"),
            a_url=Literal(A_URL),
        )

    def left_out(self, cell: Composable) -> Composable:
        """Return the condition that a cell contains a text that is not a URL."""
        return SQL(
            "EXISTS (SELECT FROM regexp_split_to_table({}, {}) AS u (part) WHERE part <> '' AND part !~* {})"
        ).format(cell, Literal(f"[|,[:space:]{BLANKS}]+"), Literal(A_URL))

    def rules(self, value: Composable, cell: Composable) -> list[RowRule]:
        return []


@dataclass(frozen=True)
class Pairs(FileColumn):
    """Options or properties of a variant, as a JSON array: `[{"type": "color", "value": "Blue"}]`."""

    splittable: ClassVar[bool] = True
    key: str = "name"
    choices: tuple[str, ...] = ()

    def subtype(self, given: str, source: str, path: str) -> str:
        """Return the option type or property name for the values of a source column. Raises Invalid."""
        name = given or source
        if not self.choices:
            return name
        if name.casefold() in self.choices:
            return name.casefold()
        known = ", ".join(self.choices)
        example = f"{self.name}.{self.choices[0]}"
        raise Invalid.at(path, f"'{name}' is no type of {self.name}. Use one of {known}, as in {example}.")

    def rules(self, value: Composable, cell: Composable) -> list[RowRule]:
        return []
