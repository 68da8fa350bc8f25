"""The step that stores the counts of a batch of stock rows (`inventory.counts`)."""

from __future__ import annotations

from functools import partial

from psycopg.sql import SQL, Composable, Literal

from imports.pipeline.context import BATCH, BatchResult, ImportContext
from imports.sql import row
from inventory.counts import Counts, land_counts, on_hand_now
from inventory.expecting import expect_rows
from inventory.importing.matching import moment
from inventory.importing.since import add_moved, mark_outdated

EXPECTED = SQL(
    "(SELECT variant_id, warehouse_id, (expected_at AT TIME ZONE 'UTC')::date FROM {}"
    " WHERE wrong IS NOT TRUE)"
).format(BATCH)


def land(context: ImportContext) -> BatchResult:
    """Store the counts of the batch and its restock dates."""
    missing, existing = row(
        SQL("SELECT count(*) FILTER (WHERE level_id IS NULL), count(level_id) FROM {}").format(BATCH)
    )
    landed = land_counts(
        Counts(
            rows=SQL("{} AS n").format(BATCH),
            missing=SQL("n.level_id IS NULL"),
            on_hand=on_hand_now(SQL("n.quantity"), SQL("n.units")),
            as_of=moment(context),
            cause=cause(context),
            line=SQL("n.line"),
            expect_no_conflict=True,
            correct=partial(_correct, context),
        ),
        missing=missing,
        existing=existing,
    )
    if "expected_at" in context.mapped.fields:
        expect_rows(EXPECTED)
    return BatchResult(landed.created, landed.updated, {"zeroed": landed.zeroed})


def cause(context: ImportContext) -> dict[str, Composable]:
    """Return the actor and the import id of the movements."""
    return {"actor": Literal(context.job.created_by), "import_id": Literal(context.job.pk)}


def _correct(context: ImportContext, outdated: int) -> None:
    if outdated:
        mark_outdated(context)
    add_moved(context)
