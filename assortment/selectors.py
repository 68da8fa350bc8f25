"""The pull's queries: keys of groups in order, and the groups of given keys.

A streamed answer reads one chunk of groups, sends it, and continues after the chunk's last key. Therefore
memory stays constant, and no database cursor stays open while a slow client reads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, NamedTuple

from django.db import connection

from assortment.prefetcher import Prefetcher
from catalog.snapshot import Snapshot
from fastdb.rows import rows_of

# All values are psycopg parameters: text from a request never becomes part of a statement.
UNSEEN = "{0}.changed_in >= %(xmin)s AND ({0}.changed_in >= %(xmax)s OR {0}.changed_in = ANY(%(unfinished)s))"

# The groups that a variant has left (`catalog_departure`), and their listed twins. Two
# groups are twins if clients see both as group X: `m:X` (model X) and `s:X` (sku X without a model).
DEPARTED = f"""
    SELECT d."group" FROM catalog_departure d
    WHERE d.supplier_id = ANY(%(suppliers)s) AND d."group" > %(after)s AND {UNSEEN.format("d")}
    UNION
    SELECT v."group" FROM catalog_departure d JOIN catalog_variant v ON v.supplier_id = d.supplier_id
        AND v.listed AND v."group" = translate(left(d."group", 1), 'ms', 'sm') || substr(d."group", 2)
    WHERE d.supplier_id = ANY(%(suppliers)s) AND v."group" > %(after)s AND {UNSEEN.format("d")}
"""  # noqa: S608 - built from constants

# After a change of terms, the pull shows all listed groups as changed, and also the groups that lost a
# variant after the snapshot.
LISTED_OR_DEPARTED = f"""
    SELECT v."group" FROM (
        SELECT DISTINCT v."group" FROM catalog_variant v
        WHERE v.supplier_id = %(supplier)s AND v.listed AND v."group" > %(after)s
        ORDER BY 1 LIMIT %(most)s
    ) v UNION {DEPARTED} ORDER BY 1 LIMIT %(most)s
"""  # noqa: S608 - built from constants

# The groups that a former partner had listed when the partnership ended. The retailer must not learn the
# names of groups that were listed later, so these groups are not shown as gone either.
STILL_KNOWN = "coalesce(v.listed_since, v.created_at) <= %(until)s"
FORMERLY_LISTED = f"""
    SELECT v."group" FROM catalog_variant v
    WHERE v.supplier_id = %(supplier)s AND v.listed AND v."group" > %(after)s AND {STILL_KNOWN}
    UNION
    SELECT d."group" FROM catalog_departure d
    WHERE d.supplier_id = ANY(%(suppliers)s) AND d."group" > %(after)s AND {UNSEEN.format("d")}
        AND (d.listed_since IS NULL OR d.listed_since <= %(until)s)
    ORDER BY 1 LIMIT %(most)s
"""  # noqa: S608 - built from constants

CHANGED = f"""
    SELECT v."group" FROM catalog_variant v
    WHERE v.supplier_id = ANY(%(suppliers)s) AND v.listed AND v."group" > %(after)s AND {UNSEEN.format("v")}
    UNION
    SELECT v."group" FROM inventory_stocklevel s JOIN catalog_variant v ON v.id = s.variant_id
    WHERE v.supplier_id = ANY(%(suppliers)s) AND v.listed AND v."group" > %(after)s AND {UNSEEN.format("s")}
    UNION
    SELECT v."group" FROM inventory_expectedstock e JOIN catalog_variant v ON v.id = e.variant_id
    WHERE v.supplier_id = ANY(%(suppliers)s) AND v.listed AND v."group" > %(after)s AND {UNSEEN.format("e")}
    UNION {DEPARTED} ORDER BY 1 LIMIT %(most)s
"""  # noqa: S608 - built from constants


class GroupRow(NamedTuple):
    """A group: sums over all its listed variants, and the texts of its oldest variant.

    Prices have no trailing zeros; `image_urls` are separated by `|`.
    """

    key: str
    variant_ids: list[int]
    sale_start: datetime | None
    sale_end: datetime | None
    retail_min: Decimal
    retail_max: Decimal
    wholesale_min: Decimal | None
    wholesale_max: Decimal | None
    image_urls: str | None
    available: int
    expected_at: date | None
    title: str
    description: str
    description_extra: str
    description_bullets: list[str]


SUMS = """
    WITH sums AS (
        SELECT v."group" AS key, min(v.id) AS oldest, array_agg(v.id ORDER BY v.id) AS variant_ids,
            min(v.special_sale_price_start) AS sale_start, max(v.special_sale_price_end) AS sale_end,
            trim_scale(min(v.retail_price)) AS retail_min,
            trim_scale(max(v.retail_price)) AS retail_max,
            trim_scale(min(v.wholesale_price)) AS wholesale_min,
            trim_scale(max(v.wholesale_price)) AS wholesale_max,
            string_agg(v.images, '|' ORDER BY v.id) FILTER (WHERE v.images <> '') AS image_urls,
            coalesce(sum(stock.available), 0)::bigint AS available, min(e.expected_at) AS expected_at
        FROM catalog_variant v
        LEFT JOIN LATERAL (
            SELECT sum(greatest(s.on_hand::bigint - s.reserved - %(safety)s, 0)) AS available
            FROM inventory_stocklevel s WHERE s.variant_id = v.id
        ) stock ON true
        LEFT JOIN (
            SELECT variant_id, min(expected_at) AS expected_at FROM inventory_expectedstock
            WHERE expected_at IS NOT NULL GROUP BY variant_id
        ) e ON e.variant_id = v.id
        WHERE v.supplier_id = %(supplier)s AND v.listed AND {which}
        GROUP BY v."group" ORDER BY v."group" LIMIT %(most)s
    )
    SELECT {columns} FROM sums JOIN catalog_variant o ON o.id = sums.oldest ORDER BY key
"""
COLUMNS = ", ".join(GroupRow._fields)

# All listed groups: one range of the index, starting where the last chunk ended.
GROUPS_BEHIND = SUMS.format(columns=COLUMNS, which='v."group" > %(after)s')
GROUPS_AMONG = SUMS.format(columns=COLUMNS, which='v."group" = ANY(%(keys)s)')

STILL_LISTED = """
    SELECT DISTINCT v."group" FROM catalog_variant v
    WHERE v.supplier_id = %(supplier)s AND v.listed AND v."group" = ANY(%(keys)s)
"""


def keys_of(sql: str, params: Mapping[str, Any], *, after: str, most: int) -> list[str]:
    """Return up to `most` keys of groups after a key, in order."""
    with connection.cursor() as cursor:
        cursor.execute(sql, {**params, "after": after, "most": most})
        return [row[0] for row in cursor.fetchall()]


def groups_behind(supplier_id: int, safety_stock: int, *, after: str, most: int) -> list[GroupRow]:
    """Return up to `most` of the supplier's listed groups after a key, in order."""
    return _groups(GROUPS_BEHIND, supplier=supplier_id, safety=safety_stock, after=after, most=most)


def groups_to_come(
    prefetcher: Prefetcher, supplier_id: int, safety_stock: int, *, after: str, most: int
) -> Callable[[], list[GroupRow]]:
    """Start `groups_behind` in the background. The returned function waits for the rows."""
    params = {"supplier": supplier_id, "safety": safety_stock, "after": after, "most": most}
    return prefetcher.submit(GROUPS_BEHIND, params, GroupRow)


def groups_among(supplier_id: int, safety_stock: int, keys: Sequence[str]) -> list[GroupRow]:
    """Return the supplier's listed groups with these keys."""
    return _groups(GROUPS_AMONG, supplier=supplier_id, safety=safety_stock, keys=list(keys), most=len(keys))


def _groups(sql: str, **params: Any) -> list[GroupRow]:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return rows_of(cursor, GroupRow)


def without_twins(supplier_id: int, keys: Sequence[str]) -> list[str]:
    """Return the keys of groups without a listed twin.

    The groups `m:X` (model X) and `s:X` (sku X without a model) are twins: clients see both as group X.
    """
    twins = {("s" if key[0] == "m" else "m") + key[1:]: key for key in keys}
    with connection.cursor() as cursor:
        cursor.execute(STILL_LISTED, {"supplier": supplier_id, "keys": list(twins)})
        living = {twins[row[0]] for row in cursor.fetchall()}
    return [key for key in keys if key not in living]


def unseen_by(snapshot: Snapshot) -> dict[str, Any]:
    """Return the parameters of UNSEEN, which selects the rows changed after the snapshot."""
    return {"xmin": snapshot.xmin, "xmax": snapshot.xmax, "unfinished": list(snapshot.unfinished)}
