"""Who was not asked for a line because its trade was suspended just then."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from django.db.models import Q

from accounts.models import Partnership, Suspension
from catalog.models import Variant
from fulfillments.models import RoutingDecision
from orders.models import Order, OrderLine

MOST = 100  # suspensions, and variants, that are looked at


def suspended_then(
    order: Order, decisions: Sequence[RoutingDecision]
) -> dict[tuple[int, int], list[tuple[str, str]]]:
    """Name and reason of each such supplier that lists what a line asks for, by decision and line.

    Two queries where nobody was suspended, four else. What a supplier lists is as it is now.
    """
    if not decisions:
        return {}
    partners = dict(Partnership.objects.filter(retailer=order.retailer_id).values_list("pk", "supplier_id"))
    first, last = decisions[0].decided_at, decisions[-1].decided_at
    about = Q(supplier__in=partners.values()) | Q(partnership__in=[*partners])
    suspensions = list(
        Suspension.objects.filter(about, Q(ended_at=None) | Q(ended_at__gt=first), started_at__lte=last)
        .select_related("supplier", "partnership__supplier")
        .order_by("pk")[:MOST]
    )
    if not suspensions:
        return {}
    lines = list(order.lines.all())
    listing = _listing([_supplier_id(each) for each in suspensions], lines)
    found = defaultdict[tuple[int, int], list[tuple[str, str]]](list)
    for decision in decisions:
        asked = {line["line_id"] for line in decision.lines}
        for each in suspensions:
            if each.started_at > decision.decided_at:
                continue
            if each.ended_at is not None and each.ended_at <= decision.decided_at:
                continue
            for line in lines:
                if line.pk in asked and (_supplier_id(each), line.pk) in listing:
                    found[decision.pk, line.pk].append((_name(each), each.reason))
    return found


def _supplier_id(suspension: Suspension) -> int:
    """Of a supplier, or of a partnership with one."""
    own = suspension.supplier_id
    return own if own is not None else suspension.partnership.supplier_id  # type: ignore[union-attr]


def _name(suspension: Suspension) -> str:
    supplier = suspension.supplier or suspension.partnership.supplier  # type: ignore[union-attr]
    return supplier.name


def _listing(suppliers: Sequence[int], lines: Sequence[OrderLine]) -> set[tuple[int, int]]:
    """Which supplier has which line's goods."""
    skus, upcs = [line.sku for line in lines if line.sku], [line.upc for line in lines if line.upc]
    ids = [line.asked_variant_id for line in lines if line.asked_variant_id]
    asked = Q(pk__in=ids) | Q(sku__in=skus) | Q(upc__in=upcs)
    variants = Variant.objects.filter(asked, supplier__in=suppliers, listed=True)
    named = list(variants.values_list("pk", "supplier_id", "sku", "upc")[: MOST * MOST])
    return {
        (supplier_id, line.pk)
        for pk, supplier_id, sku, upc in named
        for line in lines
        if (line.asked_supplier_id in (None, supplier_id))
        and (
            pk == line.asked_variant_id
            or (line.asked_variant_id is None and (sku == line.sku or (upc and upc == line.upc)))
        )
    }
