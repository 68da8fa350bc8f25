"""Suppliers that routing left out of a decision because their trade was suspended at that time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from django.db.models import Q

from accounts.models import Partnership, Suspension
from fulfillments.models import RoutingDecision
from fulfillments.planning.candidates import OfferRow, Offers
from orders.models import Order

MOST = 100  # the largest number of suspensions that are read for one order


def suspended_then(
    order: Order, decisions: Sequence[RoutingDecision]
) -> dict[tuple[int, int], list[tuple[str, str]]]:
    """Return the left-out suppliers by decision id and line id: pairs of a name and a suspension's reason.

    Makes two queries if no supplier was suspended, else four. The result is derived from the present
    partnerships and listings, because former partnerships and listings are not stored.
    """
    if not decisions:
        return {}
    partners = {each.supplier_id: each for each in Partnership.objects.filter(retailer=order.retailer_id)}
    first, last = decisions[0].decided_at, decisions[-1].decided_at
    about = Q(supplier__in=[*partners]) | Q(partnership__in=[each.pk for each in partners.values()])
    suspensions = list(
        Suspension.objects.filter(about, Q(ended_at=None) | Q(ended_at__gt=first), started_at__lte=last)
        .select_related("supplier", "partnership__supplier")
        .order_by("pk")[:MOST]
    )
    if not suspensions:
        return {}
    lines = list(order.lines.all())
    open_to = [
        each.supplier_id
        for each in partners.values()
        if each.is_active and not (each.strict_addresses and order.has_unknown_country)
    ]
    listed = Offers.listed(open_to, lines)
    left_out = defaultdict[tuple[int, int], list[tuple[str, str]]](list)
    for decision in decisions:
        routed = {line["line_id"] for line in decision.lines}
        then = [
            each
            for each in suspensions
            if each.started_at <= decision.decided_at
            and (each.ended_at is None or each.ended_at > decision.decided_at)
        ]
        idle = {_supplier_id(each) for each in then}
        for each in then:
            offers = _offers_with(_supplier_id(each), listed, idle)
            for line in lines:
                named = {offer.supplier_id for offer in offers.found_by(line)}
                if line.pk in routed and _supplier_id(each) in named:
                    left_out[decision.pk, line.pk].append((_name(each), each.reason))
    return left_out


def _offers_with(supplier_id: int, listed: Sequence[OfferRow], idle: set[int]) -> Offers:
    """Return the offers that routing would have had if this supplier had not been suspended."""
    return Offers(
        [each for each in listed if each.supplier_id == supplier_id or each.supplier_id not in idle]
    )


def _supplier_id(suspension: Suspension) -> int:
    """Return the id of the supplier that a suspension concerns, directly or by its partnership."""
    supplier_id = suspension.supplier_id
    return supplier_id if supplier_id is not None else suspension.partnership.supplier_id  # type: ignore[union-attr]


def _name(suspension: Suspension) -> str:
    supplier = suspension.supplier or suspension.partnership.supplier  # type: ignore[union-attr]
    return supplier.name
