"""The filters of the operators' lists of orders and of order lines."""

from __future__ import annotations

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from accounts.operating.admin_filters import FlagFilter, M
from orders.addresses.units import refused_lines
from orders.models import OrderLine
from orders.processing_state import FINISHED, ProcessingState


class OpenFilter(FlagFilter):
    """A filter for open orders. An index has the open orders, sorted by deadline."""

    title, parameter_name, label = "open", "open", "Open"

    @classmethod
    def narrow(cls, rows: QuerySet[M]) -> QuerySet[M]:
        return rows.exclude(processing_state__in=FINISHED)


class UnknownCountryFilter(FlagFilter):
    """A filter for open orders with an unknown shipping country."""

    title, parameter_name, label = "unknown country", "unknown_country", "Unknown country"

    @classmethod
    def narrow(cls, rows: QuerySet[M]) -> QuerySet[M]:
        return rows.filter(has_unknown_country=True).exclude(processing_state__in=FINISHED)


class WaitingFilter(FlagFilter):
    """A filter for lines with units that have no stock reserved. A small index has only these lines.

    A line does not wait if all suppliers refused its missing units.
    """

    title, parameter_name, label = "waiting for stock", "waiting", "Waiting for stock"

    @classmethod
    def narrow(cls, rows: QuerySet[M]) -> QuerySet[M]:
        return rows.filter(Q(waiting__gt=0) | Q(open__gt=F("reserved")), waiting_since__isnull=False)


class BackorderedFilter(FlagFilter):
    """A filter for open orders with lines that wait for stock."""

    title, parameter_name, label = "backordered", "backordered", "Backordered"

    @classmethod
    def narrow(cls, rows: QuerySet[M]) -> QuerySet[M]:
        waiting = WaitingFilter.narrow(OrderLine.objects.filter(order=OuterRef("pk"))).order_by()
        return rows.filter(Exists(waiting)).exclude(processing_state__in=FINISHED)


class AddressInPartFilter(FlagFilter):
    """A filter for open orders with refused units that wait for another address."""

    title, parameter_name, label = "wrong address in part", "address_in_part", "Wrong address in part"

    @classmethod
    def narrow(cls, rows: QuerySet[M]) -> QuerySet[M]:
        lines = refused_lines().filter(for_address__gt=0)
        return rows.filter(Exists(lines), processing_state=ProcessingState.EXCEPTION)


class RefusedFilter(FlagFilter):
    """A filter for open orders with units that all suppliers refused, and that need no other address."""

    title, parameter_name, label = "refused by all", "refused", "Refused by all"

    @classmethod
    def narrow(cls, rows: QuerySet[M]) -> QuerySet[M]:
        lines = refused_lines().filter(rejected__gt=F("for_address"))
        return rows.filter(Exists(lines), processing_state=ProcessingState.EXCEPTION)


class HeldFilter(FlagFilter):
    """A filter for open orders that are held. A small index has only these orders."""

    title, parameter_name, label = "held", "held", "Held"

    @classmethod
    def narrow(cls, rows: QuerySet[M]) -> QuerySet[M]:
        return rows.filter(held=True).exclude(processing_state__in=FINISHED)
