"""The suppliers whose variants a retailer may sell for a service type, and changes of their terms."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db import connection

from accounts.models import Retailer, ServiceType
from assortment.selectors import UNSEEN, unseen_by
from catalog.snapshot import Snapshot
from fastdb.rows import rows_of


class Partner(NamedTuple):
    """A supplier, with the number of retailers that can sell its variants."""

    supplier_id: int
    safety_stock: int
    currency: str
    retailers_count: int


@dataclass(frozen=True)
class ChangedTerms:
    """The effects of changed terms on a pull.

    `suppliers` has the suppliers whose groups are all shown as changed. `lost` has each supplier whose
    variants the retailer may no longer sell for this service type, with the time at which this permission
    ended.
    """

    suppliers: frozenset[int]
    lost: dict[int, datetime]


class TermsRow(NamedTuple):
    """A supplier with changed terms.

    `ended_at` is the time at which a change of terms ended the requested service type, or None.
    """

    supplier_id: int
    ended_at: datetime | None


PARTNERS = """
    SELECT s.id AS supplier_id, s.safety_stock, s.currency, (
        SELECT count(*) FROM accounts_partnership o
        WHERE o.supplier_id = s.id AND o.is_trading AND %(service)s = ANY(o.service_types)) AS retailers_count
    FROM accounts_partnership p JOIN accounts_supplier s ON s.id = p.supplier_id
    WHERE p.retailer_id = %(retailer)s AND p.is_trading AND %(service)s = ANY(p.service_types)
    ORDER BY s.id
"""

CHANGED_TERMS = f"""
    SELECT t.supplier_id, max(t.changed_at)
        FILTER (WHERE t.retailer_id = %(retailer)s AND %(service)s = ANY(t.closed)) AS ended_at
    FROM assortment_termschange t WHERE {UNSEEN.format("t")} GROUP BY 1
"""  # noqa: S608 - built from constants


def partners_of(retailer: Retailer, service_type: ServiceType) -> list[Partner]:
    """Return the suppliers with an active partnership for the service type, by id."""
    with connection.cursor() as cursor:
        cursor.execute(PARTNERS, {"retailer": retailer.pk, "service": service_type.value})
        return rows_of(cursor, Partner)


def changed_terms(
    retailer: Retailer, service_type: ServiceType, partners: list[Partner], since: Snapshot
) -> ChangedTerms:
    """Return the partners whose terms changed after the snapshot, and the suppliers lost after it."""
    known = {"retailer": retailer.pk, "service": service_type.value, **unseen_by(since)}
    with connection.cursor() as cursor:
        cursor.execute(CHANGED_TERMS, known)
        rows = rows_of(cursor, TermsRow)
    current = {partner.supplier_id for partner in partners}
    return ChangedTerms(
        suppliers=frozenset(row.supplier_id for row in rows if row.supplier_id in current),
        lost={
            row.supplier_id: row.ended_at for row in rows if row.ended_at and row.supplier_id not in current
        },
    )
