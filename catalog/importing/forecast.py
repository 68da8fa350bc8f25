"""The predicted effect of a product file, for dry runs and the approval rule."""

from __future__ import annotations

import json

from psycopg.sql import SQL, Composable, Identifier, Literal

from catalog.importing.columns import PRICES, TABLE
from catalog.importing.matching import lookup
from catalog.models import Variant
from imports.models import ImportPolicy
from imports.pipeline.context import BATCH, BatchResult, ImportContext
from imports.pipeline.job_report import TOP
from imports.sql import row, value


def forecast(context: ImportContext) -> BatchResult:
    created, updated, delisted = row(
        SQL(
            "SELECT count(*) FILTER (WHERE b.variant_id IS NULL), count(b.variant_id),"
            " count(*) FILTER (WHERE v.listed AND {})"
            " FROM {} AS b LEFT JOIN {} AS v ON v.id = b.variant_id"
        ).format(delists(context, SQL("b.listed")), BATCH, TABLE)
    )
    report = {"delisted": int(delisted), "price_changes": _price_changes(context)}
    return BatchResult(int(created), int(updated), report)


def _price_changes(context: ImportContext) -> list[dict[str, object]]:
    changes: list[Composable] = [
        SQL(
            "SELECT v.sku, {name} AS field, v.{price} AS old, b.{price} AS new FROM {batch} AS b"
            " JOIN {table} AS v ON v.id = b.variant_id WHERE b.{price} <> v.{price}"
        ).format(name=Literal(name), price=Identifier(name), batch=BATCH, table=TABLE)
        for name in PRICES
        if name in context.mapped.fields
    ]
    return _largest(changes)


def _largest(changes: list[Composable]) -> list[dict[str, object]]:
    """Return the changes with the largest factor between the old and the new price."""
    if not changes:
        return []
    largest = value(
        SQL(
            """
            SELECT coalesce(jsonb_agg(c), '[]') FROM (
                SELECT sku, field, trim_scale(old)::text AS from, trim_scale(new)::text AS to,
                    round(greatest(new, old) / greatest(least(new, old), 0.0001), 4) AS factor
                FROM ({}) AS changed ORDER BY factor DESC, sku, field LIMIT {}
            ) AS c
            """
        ).format(SQL(" UNION ALL ").join(changes), Literal(TOP))
    )
    return list(json.loads(largest))


def outlook(context: ImportContext) -> dict[str, object]:
    """Return the largest price changes of the whole file."""
    variants = lookup(context)
    changes: list[Composable] = [
        SQL(
            "SELECT v.sku, {name} AS field, v.{price} AS old, {new} AS new FROM {table} AS s {steps} {joins}"
            " WHERE {new} <> 'NaN' AND {new} >= 0 AND {new} <> v.{price}"
        ).format(
            name=Literal(name),
            price=Identifier(name),
            new=context.mapped.values[name],
            table=context.staging.table,
            steps=context.mapped.joins,
            joins=variants.joins,
        )
        for name in PRICES
        if name in context.mapped.fields
    ]
    return {"price_changes": _largest(changes)}


def approval_reasons(context: ImportContext, policy: ImportPolicy) -> list[str]:
    return [*_delisting(context, policy), *_prices(context, policy)]


def _delisting(context: ImportContext, policy: ImportPolicy) -> list[str]:
    if policy.delisted_share is None or "listed" not in context.mapped.fields:
        return []
    delisted = _count(
        context, SQL("v.listed AND {}").format(delists(context, context.mapped.values["listed"]))
    )
    listed = Variant.objects.filter(supplier_id=context.supplier_id, listed=True).count()
    if not listed or delisted <= policy.delisted_share * listed:
        return []
    return [f"The file would delist {delisted} of {listed} listed variants."]


def _prices(context: ImportContext, policy: ImportPolicy) -> list[str]:
    reasons = []
    for name in PRICES:
        if policy.price_factor is None or name not in context.mapped.fields:
            continue
        moved = _count(
            context,
            SQL(
                "{new} <> 'NaN' AND {new} >= 0 AND v.{old} > 0"
                " AND ({new} > v.{old} * {f} OR v.{old} > {new} * {f})"
            ).format(new=context.mapped.values[name], old=Identifier(name), f=Literal(policy.price_factor)),
        )
        if moved:
            factor = f"{policy.price_factor.normalize():f}"
            variants = "1 variant" if moved == 1 else f"{moved} variants"
            reasons.append(f"The file would change {name} of {variants} by more than a factor of {factor}.")
    return reasons


def _count(context: ImportContext, condition: Composable) -> int:
    variants = lookup(context)
    return int(
        value(
            SQL("SELECT count(*) FROM {} AS s {} {} WHERE {}").format(
                context.staging.table, context.mapped.joins, variants.joins, condition
            )
        )
    )


def delists(context: ImportContext, listed: Composable) -> Composable:
    return SQL("{} = 'false'").format(listed) if "listed" in context.mapped.fields else SQL("false")
