"""Serial shipping container codes (SSCC) for the cartons of replenishments. A code is never used again."""

from __future__ import annotations

from django.db import connection, transaction

from api.errors import ApiError
from catalog.gtin import check_digit
from events import epochs
from fulfillments.models import Carton, Fulfillment

DIGITS = 17  # the digits of an SSCC before its check digit
AHEAD = 10_000
"""The number that a new epoch adds to each counter: more than the cartons that a standby can have missed."""


class NotReplenish(ApiError):
    code, status = "not_replenish", 409


class SsccUnavailable(ApiError):
    code, status = "sscc_unavailable", 409


def cartons_of(fulfillment: Fulfillment, count: int) -> list[Carton]:
    """Return the first `count` cartons of a replenishment. New cartons get the supplier's next numbers.

    Raises NotReplenish for an order of a customer. Raises SsccUnavailable if the supplier has no GS1 prefix,
    or has used all numbers of the prefix.
    """
    if fulfillment.order.type != "replenish":
        raise NotReplenish(
            f"Fulfillment {fulfillment.pk} goes to a customer. Only replenishments have carton labels."
        )
    prefix = fulfillment.supplier.gs1_prefix
    if not prefix:
        raise SsccUnavailable(
            "The supplier has no GS1 company prefix. An operator enters it on the supplier's page:"
            " Edit supplier, GS1 prefix."
        )
    epochs.notice()
    with transaction.atomic():
        Fulfillment.objects.select_for_update(no_key=True).get(pk=fulfillment.pk)
        known = [*fulfillment.cartons.order_by("number")[:count]]
        missing = count - len(known)
        if missing:
            last = _advance(prefix, missing)
            fresh = [
                Carton(fulfillment=fulfillment, number=count - left, sscc=sscc_of(prefix, last - left))
                for left in reversed(range(missing))
            ]
            known += Carton.objects.bulk_create(fresh)
    return known


def _advance(prefix: str, by: int) -> int:
    """Take the next `by` serial numbers of a prefix. Return the last of these numbers."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO fulfillments_sscccounter AS counter (gs1_prefix, last) VALUES (%s, %s)
            ON CONFLICT (gs1_prefix) DO UPDATE SET last = counter.last + excluded.last
            RETURNING last
            """,
            [prefix, by],
        )
        last: int = cursor.fetchone()[0]
    return last


def sscc_of(prefix: str, serial: int) -> str:
    """Return the SSCC of a serial number: extension digit, prefix, the other digits, check digit."""
    digits = f"{serial:0{DIGITS - len(prefix)}d}"
    if len(digits) + len(prefix) > DIGITS:
        raise SsccUnavailable(
            f"The GS1 prefix {prefix} has no free serial numbers left. Enter another prefix."
        )
    code = digits[0] + prefix + digits[1:]
    return code + check_digit(code)


def jump_ahead() -> None:
    """Advance every counter, because the database of a new epoch may lack the last used numbers."""
    with connection.cursor() as cursor:
        cursor.execute("UPDATE fulfillments_sscccounter SET last = last + %s", [AHEAD])
