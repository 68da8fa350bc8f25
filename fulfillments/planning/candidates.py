"""The candidates for an order line: listed variants of the retailer's active partners (contract 4)."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from decimal import Decimal
from typing import NamedTuple, Protocol

from django.db.models import Q, QuerySet

from accounts.models import WhenShort
from catalog.models import Variant
from fastdb.compiled import CompiledQuery, any_of
from fastdb.rows import as_rows
from fulfillments.planning.partners import PartnerRow, partners_for_open_orders, partners_of
from fulfillments.planning.routing import Agreed, Candidate


class VariantRequest(Protocol):
    """The fields by which an order line names a variant."""

    @property
    def sku(self) -> str: ...
    @property
    def upc(self) -> str: ...
    @property
    def asked_supplier_id(self) -> int | None: ...
    @property
    def asked_variant_id(self) -> int | None: ...


class WantedLine(NamedTuple):
    """An order line to route. The fields are the columns of a query."""

    id: int
    sku: str
    upc: str
    asked_supplier_id: int | None
    asked_variant_id: int | None


class WaitingLine(NamedTuple):
    """An order line with unrouted units. The fields are the columns of a query."""

    id: int
    order_id: int
    retailer_id: int
    country_known: bool
    units: int
    refused: int  # the number of these units that suppliers rejected
    sku: str
    upc: str
    asked_supplier_id: int | None
    asked_variant_id: int | None


class OfferRow(NamedTuple):
    """A variant that a partner lists."""

    id: int
    supplier_id: int
    sku: str
    upc: str
    title: str
    retail_price: Decimal
    wholesale_price: Decimal | None


class Offers:
    """Listed variants, with the rule that matches order lines to variants."""

    def __init__(self, variants: Sequence[OfferRow], unlisted_upcs: Container[str] = ()) -> None:
        """Index listed variants. `unlisted_upcs` are the UPCs of products that no partner lists."""
        self._unlisted_upcs = unlisted_upcs
        self._by_id = {variant.id: variant for variant in variants}
        self._by_upc = _grouped((variant.upc, variant) for variant in variants if variant.upc)
        self._by_sku = _grouped((variant.sku, variant) for variant in variants)

    @staticmethod
    def listed(suppliers: Sequence[int], lines: Sequence[VariantRequest]) -> list[OfferRow]:
        """Return the variants that these suppliers list and these lines name. Makes one query."""
        return list(_variants(suppliers=list(suppliers), **_names(lines)))

    def found_by(self, line: VariantRequest) -> list[OfferRow]:
        """Return the matches by variant_id, else by supplier_id and sku, else by upc, else by sku.

        If the line names a supplier, only variants of this supplier match.
        """
        if line.asked_variant_id is not None:
            variant = self._by_id.get(line.asked_variant_id)
            variants = [variant] if variant else []
        elif line.asked_supplier_id is not None and line.sku:
            variants = self._by_sku.get(line.sku, [])
        else:
            variants = self._by_upc.get(line.upc, []) or self._same_goods(line)
        if line.asked_supplier_id is not None:
            variants = [variant for variant in variants if variant.supplier_id == line.asked_supplier_id]
        return variants

    def _same_goods(self, line: VariantRequest) -> list[OfferRow]:
        """Return the variants with the line's sku, which may be other goods at another supplier.

        If the line's UPC means a product that is not listed now, a variant with another UPC does not match.
        """
        variants = self._by_sku.get(line.sku, [])
        if line.upc in self._unlisted_upcs:
            return [variant for variant in variants if variant.upc in ("", line.upc)]
        return variants


class Market:
    """A retailer's active partners, and their listed variants that some order lines name."""

    def __init__(
        self,
        partners: Iterable[PartnerRow],
        variants: Iterable[OfferRow],
        *,
        country_known: bool = True,
        when_short: str | None = None,
        unlisted_upcs: Container[str] = (),
    ) -> None:
        self._country_known, self._when_short = country_known, when_short
        self.partners = {partner.supplier_id: partner for partner in partners}
        self.variants = [variant for variant in variants if variant.supplier_id in self.partners]
        self._offers = Offers(self.variants, unlisted_upcs)
        currencies = {self.partners[variant.supplier_id].currency for variant in self.variants}
        self._has_one_currency = len(currencies) < 2

    @classmethod
    def of(
        cls,
        retailer_id: int,
        lines: Sequence[VariantRequest],
        *,
        country_known: bool = True,
        when_short: str | None = None,
    ) -> Market:
        """Return the market for these lines of a new order. Makes two queries, seldom three."""
        return cls._of(
            partners_of(retailers=[retailer_id]), lines, country_known=country_known, when_short=when_short
        )

    @classmethod
    def of_open_order(
        cls, retailer_id: int, lines: Sequence[VariantRequest], *, country_known: bool
    ) -> Market:
        """Return the `Market` for lines of an existing order.

        The retailer may be suspended, because its open orders continue. Makes two or three queries.
        """
        return cls._of(partners_for_open_orders(retailers=[retailer_id]), lines, country_known=country_known)

    @classmethod
    def _of(
        cls,
        partners: Sequence[PartnerRow],
        lines: Sequence[VariantRequest],
        *,
        country_known: bool,
        when_short: str | None = None,
    ) -> Market:
        variants = Offers.listed([partner.supplier_id for partner in partners], lines)
        return cls(
            partners,
            variants,
            country_known=country_known,
            when_short=when_short,
            unlisted_upcs=_unlisted_upcs(lines, variants, partners),
        )

    @classmethod
    def of_each(cls, lines: Sequence[WaitingLine]) -> list[Market]:
        """Return the market for each line. The lines may be of several open orders.

        Makes two queries, seldom more.
        """
        all_partners = partners_for_open_orders(retailers=sorted({line.retailer_id for line in lines}))
        suppliers = sorted({partner.supplier_id for partner in all_partners})
        variants = Offers.listed(suppliers, lines)
        markets = {}
        for retailer, known in {(line.retailer_id, line.country_known) for line in lines}:
            partners = [partner for partner in all_partners if partner.retailer_id == retailer]
            unlisted = _unlisted_upcs(lines, variants, partners)
            markets[retailer, known] = cls(partners, variants, country_known=known, unlisted_upcs=unlisted)
        return [markets[line.retailer_id, line.country_known] for line in lines]

    def candidates(self, line: VariantRequest, refused_by: Container[int] = ()) -> tuple[Candidate, ...]:
        """Return the matching variants, with the terms of their suppliers.

        If the order's country is unknown, leave out suppliers that refuse orders with an unknown country
        (`strict_addresses`).
        """
        return tuple(
            self._candidate(variant, refused_by)
            for variant in self._offers.found_by(line)
            if self._country_known or not self.partners[variant.supplier_id].strict_addresses
        )

    def is_strict(self, line: VariantRequest) -> bool:
        """Return whether all partners with a matching variant refuse the order for its unknown country."""
        return not self._country_known and bool(self._offers.found_by(line)) and not self.candidates(line)

    def _candidate(self, variant: OfferRow, refused_by: Container[int]) -> Candidate:
        partner = self.partners[variant.supplier_id]
        wanted = WhenShort(self._when_short or partner.when_short)
        when_short = wanted.with_partner(refuses_short=partner.refuse_short_orders)
        return Candidate(
            variant_id=variant.id,
            supplier_id=variant.supplier_id,
            partnership=partner,
            # Without a wholesale price, compare the variant by its retail price.
            cost=variant.retail_price if variant.wholesale_price is None else variant.wholesale_price,
            priority=partner.priority,
            default_warehouse_id=partner.default_warehouse_id,
            agreed=Agreed(variant.sku, variant.upc, variant.title, variant.wholesale_price),
            takes_short=when_short == WhenShort.SHIP_PARTIAL,
            waits=when_short == WhenShort.WAIT,
            refused=variant.supplier_id in refused_by,
            comparable=self._has_one_currency,
        )


@CompiledQuery
def _variants() -> QuerySet[Variant, OfferRow]:
    named = Q(any_of("pk", "ids")) | Q(any_of("sku", "skus")) | Q(any_of("upc", "upcs"))
    listed = Variant.objects.filter(named, any_of("supplier_id", "suppliers"), listed=True).order_by("id")
    return as_rows(listed, OfferRow)


def _names(lines: Sequence[VariantRequest]) -> dict[str, list[int] | list[str]]:
    """Return the variant ids that lines name, and the UPCs and skus of lines without a variant id."""
    without_id = [line for line in lines if line.asked_variant_id is None]
    return {
        "ids": [line.asked_variant_id for line in lines if line.asked_variant_id is not None],
        "upcs": [line.upc for line in without_id if line.upc],
        "skus": [line.sku for line in without_id if line.sku],
    }


def _unlisted_upcs(
    lines: Sequence[VariantRequest], variants: Sequence[OfferRow], partners: Sequence[PartnerRow]
) -> frozenset[str]:
    """Return the lines' UPCs of products that the retailers' suppliers have, but that no partner lists.

    The suppliers may be suspended. Makes a query only if a listed variant with the sku of such a line has
    another UPC.
    """
    suppliers = {partner.supplier_id for partner in partners}
    offers = [variant for variant in variants if variant.supplier_id in suppliers]
    listed = {variant.upc for variant in offers}
    other_upcs = {variant.sku for variant in offers if variant.upc}
    doubtful = {line.upc for line in lines if line.upc and line.upc not in listed and line.sku in other_upcs}
    if not doubtful:
        return frozenset()
    retailers = {partner.retailer_id for partner in partners}
    known = Variant.objects.filter(upc__in=doubtful, supplier__partnerships__retailer__in=retailers)
    return frozenset(known.values_list("upc", flat=True))


def _grouped(pairs: Iterable[tuple[str, OfferRow]]) -> dict[str, list[OfferRow]]:
    groups: dict[str, list[OfferRow]] = {}
    for key, variant in pairs:
        groups.setdefault(key, []).append(variant)
    return groups
