"""The column of a stock file with restock dates."""

from __future__ import annotations

from dataclasses import dataclass

from psycopg.sql import SQL, Composable

from imports.pipeline.columns import MomentColumn, RowRule, about


@dataclass(frozen=True)
class RestockColumn(MomentColumn):
    """The day on which new stock is expected. It must not be in the past. An empty cell removes the day."""

    def rules(self, value: Composable, cell: Composable) -> list[RowRule]:
        past = SQL("{0} > '-infinity' AND ({0} AT TIME ZONE 'UTC')::date < (now() AT TIME ZONE 'UTC')::date")
        message = about(cell, "is in the past. Write today or a later day (UTC).")
        return [*super().rules(value, cell), RowRule(past.format(value), "invalid_date", message)]
