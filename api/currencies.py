"""Currencies by their codes of ISO 4217. Amounts are never converted (docs/adr/0108)."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

import pycountry

from api.envelope import FieldErrorJson
from api.errors import field_error

CURRENCIES = frozenset(currency.alpha_3 for currency in pycountry.currencies)
WITHOUT_FRACTION = frozenset(
    {
        *("BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG"),
        *("RWF", "UGX", "UYI", "VND", "VUV", "XAF", "XOF", "XPF"),
    }
)
# ISO 4217 gives these currencies more than two decimals.
MORE_DECIMALS = {
    **dict.fromkeys(("BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"), 3),
    **dict.fromkeys(("CLF", "UYW"), 4),
}
UNKNOWN = "is no currency of ISO 4217. Send a code such as USD, EUR or JPY."


def without_fraction(currency: str) -> bool:
    """Tell whether amounts in this currency are whole numbers."""
    return currency in WITHOUT_FRACTION


def decimals_of(currency: str) -> int:
    """Return the number of decimals in which amounts of a currency are shown."""
    return 0 if without_fraction(currency) else MORE_DECIMALS.get(currency, 2)


def fraction_errors(currency: str, amounts: Mapping[str, Decimal | None]) -> list[FieldErrorJson]:
    """Return an error for each field whose amount has a fraction, if the currency has none."""
    if not without_fraction(currency):
        return []
    return [
        field_error(field, f"{currency} has no fraction. Send a whole number.", "max_decimal_places")
        for field, amount in amounts.items()
        if amount is not None and amount != amount.to_integral_value()
    ]
