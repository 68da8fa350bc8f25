"""Number columns. A text that could mean two different numbers is refused. See docs/adr/0020.

A price may have its currency: `352 AED`, `EUR 12,50`. It must be the supplier's currency (docs/adr/0108).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from psycopg.sql import SQL, Composable, Literal

from api.currencies import CURRENCIES, without_fraction
from imports.pipeline.columns import BLANKS, FileColumn, RowRule, Style, about, text

# The formats of numbers. A number with groups of three digits never begins with a 0. A text that matches
# DOT_EITHER or COMMA_EITHER has two meanings, so test these formats first: the other formats overlap them.
PLAIN = "^[-+]?([0-9]*[.][0-9]+|[0-9]+[.]?)$"
COMMA_DECIMAL = "^[-+]?[0-9]*,[0-9]+$"
COMMA_GROUPS = "^[-+]?[1-9][0-9]{0,2}((,[0-9]{3})+[.][0-9]*|(,[0-9]{3}){2,})$"
DOT_GROUPS = "^[-+]?[1-9][0-9]{0,2}(([.][0-9]{3})+,[0-9]*|([.][0-9]{3}){2,})$"
DOT_EITHER = "^[-+]?[1-9][0-9]{0,2}[.][0-9]{3}$"
COMMA_EITHER = "^[-+]?[1-9][0-9]{0,2},[0-9]{3}$"
# A number that begins or ends with three letters.
WITH_CODE = "^[a-z]{3}[^a-z]+$|^[^a-z]+[a-z]{3}$"


@dataclass(frozen=True)
class NumberColumn(FileColumn):
    """A column with exact decimals of at least 0."""

    numeric: ClassVar[bool] = True
    whole_digits: int = 10
    decimals: int = 4
    is_price: bool = False
    # The supplier's currency, for a column of prices; empty for other numbers.
    currency: str = ""

    def in_currency(self, currency: str) -> NumberColumn:
        if not self.is_price:
            return self
        decimals = 0 if without_fraction(currency) else self.decimals
        return replace(self, currency=currency, decimals=decimals)

    def amount(self, cell: Composable) -> Composable:
        """Return the text of a cell without the supplier's currency."""
        if not self.currency:
            return cell
        return SQL(
            "(CASE {code} WHEN upper(left({cell}, 3)) THEN btrim(substr({cell}, 4), {blanks})"
            " WHEN upper(right({cell}, 3)) THEN btrim(left({cell}, -3), {blanks}) ELSE {cell} END)"
        ).format(code=Literal(self.currency), cell=cell, blanks=Literal(BLANKS))

    def value(self, cell: Composable, style: Style, raw: Composable | None = None) -> Composable:
        return SQL(
            "CASE WHEN octet_length({raw}) < 40 AND {raw} ~ {usual} THEN {raw}::numeric"
            " WHEN {cell} = '' THEN NULL WHEN length({cell}) > 60 THEN 'NaN' ELSE {unusual} END"
        ).format(
            raw=raw or cell,
            cell=cell,
            usual=SQL("'^[0-9]+[.]?[0-9]*$'" if style.dot == "decimal" else "'^[0-9]+$'"),
            unusual=self._unusual(cell, style),
        )

    def _unusual(self, cell: Composable, style: Style) -> Composable:
        if not self.currency:
            return unusual_number(cell, style)
        number = unusual_number(SQL("a.amount"), style)
        return SQL("(SELECT {} FROM (SELECT {} OFFSET 0) AS a (amount))").format(number, self.amount(cell))

    def suspect(self, value: Composable) -> Composable:
        # PostgreSQL sorts NaN above all numbers, so the upper limit also finds NaN.
        return SQL("({0} >= 0 AND {0} < {1} AND scale({0}) <= {2}) IS NOT TRUE").format(
            value, self._limit(), Literal(self.decimals)
        )

    def _limit(self) -> Composable:
        return SQL("{}::numeric").format(Literal(10**self.whole_digits))

    def rules(self, value: Composable, cell: Composable) -> list[RowRule]:
        limit = self._limit()
        found = [self.missing(SQL("{} IS NULL").format(value))] if self.required else []
        return [
            *found,
            RowRule(SQL("{} = 'NaN'").format(value), self._code(cell), self.unreadable(cell), True),
            RowRule(SQL("{} < 0").format(value), "min_value", text(f"{self.name} must not be negative.")),
            RowRule(
                SQL("{0} >= {1} AND {0} <> 'NaN'").format(value, limit),
                "max_digits",
                text(f"{self.name} has more than {self.whole_digits} digits before the decimal point."),
            ),
            RowRule(
                SQL("scale({0}) > {1} AND {0} <> round({0}, {1})").format(value, Literal(self.decimals)),
                "max_decimal_places",
                text(
                    f"{self.name} has more than {self.decimals} decimals. Round it in the file, or with"
                    f" math_transformer: {self.name} = round({self.name}, 2)."
                    if self.decimals
                    else f"{self.name} must be a whole number{self._why_whole()}."
                ),
            ),
        ]

    def _why_whole(self) -> str:
        return f", because {self.currency} has no fraction" if self.currency else ""

    def _code(self, cell: Composable) -> Composable:
        if not self.is_price:
            return Literal("not_a_number")
        codes = SQL("CASE WHEN {} ~* {} THEN 'currency' ELSE 'not_a_number' END")
        return codes.format(self.amount(cell), Literal(WITH_CODE))

    def _wrong_currency(self, cell: Composable) -> Composable:
        """Return the message about a price whose currency is unknown, or is not the supplier's."""
        other = f"is not in {self.currency}, the supplier's currency. Prices are not converted."
        unknown = "has no known currency. Write the amount alone, or with a code such as USD."
        return SQL(
            "CASE WHEN upper(substring({0} FROM '[A-Za-z]{{3}}')) = ANY({1}) THEN {2} ELSE {3} END"
        ).format(cell, Literal(sorted(CURRENCIES)), about(cell, other), about(cell, unknown))

    def unreadable(self, cell: Composable) -> Composable:
        reason = self._unreadable_number(cell)
        if not self.is_price:
            return reason
        return SQL("CASE WHEN {} ~* {} THEN {} ELSE {} END").format(
            self.amount(cell), Literal(WITH_CODE), self._wrong_currency(cell), reason
        )

    def _unreadable_number(self, cell: Composable) -> Composable:
        spelling = "with a decimal point and no groups." if self.decimals else "without separators: 1000."
        return SQL("CASE WHEN {cell} ~ {ambiguous} THEN {two_ways} ELSE {no_number} END").format(
            cell=self.amount(cell),
            ambiguous=Literal("^[-+]?[1-9][0-9]{0,2}[.,][0-9]{3}$"),
            two_ways=about(cell, f"has two meanings: decimals or thousands. Write it {spelling}"),
            no_number=about(cell, f"is not a number such as {'19.99' if self.decimals else '25'}."),
        )


@dataclass(frozen=True)
class CurrencyColumn(FileColumn):
    """The currency of a row's prices. It is only checked: it must be empty or the supplier's currency."""

    currency: str = ""

    def in_currency(self, currency: str) -> CurrencyColumn:
        return replace(self, currency=currency)

    def value(self, cell: Composable, style: Style, raw: Composable | None = None) -> Composable:
        return SQL("upper({})").format(cell)

    def rules(self, value: Composable, cell: Composable) -> list[RowRule]:
        message = f"is not {self.currency}, the supplier's currency. Prices are not converted."
        condition = SQL("{} NOT IN ('', {})").format(value, Literal(self.currency))
        return [RowRule(condition, "currency", about(cell, message))]


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
    """Return the SQL condition that a cell is readable only with a decimal point."""
    return SQL("({0} ~ '[.,]' AND ({0} ~ {1} AND {0} !~ {2} OR {0} ~ {3}))").format(
        cell, Literal(PLAIN), Literal(DOT_EITHER), Literal(COMMA_GROUPS)
    )


def shows_decimal_commas(cell: Composable) -> Composable:
    """Return the SQL condition that a cell is readable only with a decimal comma."""
    return SQL("({0} ~ '[.,]' AND ({0} ~ {1} AND {0} !~ {2} OR {0} ~ {3}))").format(
        cell, Literal(COMMA_DECIMAL), Literal(COMMA_EITHER), Literal(DOT_GROUPS)
    )
