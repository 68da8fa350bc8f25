"""Number columns: a text is read in one way only, or refused. See docs/adr/0021."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from psycopg.sql import SQL, Composable, Literal

from imports.pipeline.columns import FileColumn, RowRule, Style, about, text

# Texts with one meaning in any file. Groups of three digits never begin with a 0.
PLAIN = "^[-+]?([0-9]*[.][0-9]+|[0-9]+[.]?)$"
COMMA_DECIMAL = "^[-+]?[0-9]*,[0-9]+$"
COMMA_GROUPS = "^[-+]?[1-9][0-9]{0,2}((,[0-9]{3})+[.][0-9]*|(,[0-9]{3}){2,})$"
DOT_GROUPS = "^[-+]?[1-9][0-9]{0,2}(([.][0-9]{3})+,[0-9]*|([.][0-9]{3}){2,})$"
DOT_EITHER = "^[-+]?[1-9][0-9]{0,2}[.][0-9]{3}$"
COMMA_EITHER = "^[-+]?[1-9][0-9]{0,2},[0-9]{3}$"


@dataclass(frozen=True)
class NumberColumn(FileColumn):
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

    def rules(self, value: Composable, cell: Composable) -> list[RowRule]:
        limit = self._limit()
        found = [self.missing(SQL("{} IS NULL").format(value))] if self.required else []
        return [
            *found,
            RowRule(SQL("{} = 'NaN'").format(value), "not_a_number", self.unreadable(cell)),
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
            two_ways=about(
                cell, "has two meanings: decimals or thousands. Write it with a decimal point and no groups."
            ),
            no_number=about(cell, f"is not a number such as {'19.99' if self.decimals else '25'}."),
        )


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
    """Return the condition that a cell can only be meant with a decimal point."""
    return SQL("({0} ~ '[.,]' AND ({0} ~ {1} AND {0} !~ {2} OR {0} ~ {3}))").format(
        cell, Literal(PLAIN), Literal(DOT_EITHER), Literal(COMMA_GROUPS)
    )


def shows_decimal_commas(cell: Composable) -> Composable:
    """Return the SQL condition that a cell is readable only with a decimal comma."""
    return SQL("({0} ~ '[.,]' AND ({0} ~ {1} AND {0} !~ {2} OR {0} ~ {3}))").format(
        cell, Literal(COMMA_DECIMAL), Literal(COMMA_EITHER), Literal(DOT_GROUPS)
    )
