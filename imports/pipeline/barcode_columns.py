"""Barcode columns: lengths and check digits, in SQL."""

from __future__ import annotations

from dataclasses import dataclass

from psycopg.sql import SQL, Composable, Literal

from imports.pipeline.columns import FileColumn, RowRule, Style, about


@dataclass(frozen=True)
class Barcode(FileColumn):
    """A GS1 number with one of these lengths and a valid check digit."""

    lengths: tuple[int, ...] = ()

    def value(self, cell: Composable, style: Style, raw: Composable | None = None) -> Composable:
        """Return the number without the apostrophe that marks it as text, as in Shopify's exports."""
        return SQL("CASE WHEN starts_with({0}, '''') THEN substr({0}, 2) ELSE {0} END").format(cell)

    def suspect(self, value: Composable) -> Composable:
        return SQL("({} <> '' AND {})").format(value, self._fits(value, "IS NOT TRUE"))

    def _fits(self, value: Composable, test: str) -> Composable:
        """Return SQL that checks the length, the digits and the check digit. The SQL ends with `test`.

        GS1 weighs the digits by 1 and 3 in turn, from the check digit to the left. The digits are read as a
        hexadecimal number: each of its bytes holds one digit of weight 3 and one digit of weight 1, so one
        operation weighs all digits. `% 255` adds up the bytes, because 256 % 255 = 1.
        """
        number = SQL("((CASE WHEN octet_length({0}) % 2 = 1 THEN 'x0' ELSE 'x' END || {0})::bit(56)::bigint)")
        weighed = SQL("((({0} >> 4) & {1}) * 3 + ({0} & {1})) % 255 % 10 = 0").format(
            number.format(value), Literal(0x0F0F0F0F0F0F0F)
        )
        return SQL(
            "CASE WHEN octet_length({0}) = ANY({1}) AND {0} ~ '^[0-9]+$' THEN {2} ELSE false END {3}"
        ).format(value, Literal(list(self.lengths)), weighed, SQL(test))

    def rules(self, value: Composable, cell: Composable) -> list[RowRule]:
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
            RowRule(
                self.suspect(value),
                SQL("CASE WHEN {} THEN 'check_digit' ELSE 'invalid_barcode' END").format(shaped),
                SQL("CASE WHEN {} THEN {} ELSE {} END").format(
                    shaped, about(cell, "has a wrong check digit."), spreadsheet
                ),
            )
        ]
