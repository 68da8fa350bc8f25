"""The normalisation of pushed addresses, and warnings about doubtful values (contract 13, *Addresses*)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import date

from django.utils import timezone

from api.renderers import encode
from orders.addresses.countries import closest_country, could_be_postcode, country_code, postcode_rule

Address = Mapping[str, str]


def normalised(address: Address) -> dict[str, str]:
    """Return an address with the country as ISO 3166-1 alpha-2 code. An unknown country stays unchanged."""
    return {**address, "country": country_code(address.get("country", "")) or address.get("country", "")}


def has_unknown_country(address: Address) -> bool:
    return country_code(address.get("country", "")) is None


def warnings(shipping: Address, billing: Address, ship_until: date | None) -> list[str]:
    """Return a sentence for each value that is probably a mistake. The order is accepted anyway."""
    sentences = _of_address("shipping_address", shipping)
    if billing != shipping:
        sentences += _of_address("billing_address", billing)
    if ship_until is not None and ship_until < timezone.now().date():
        sentences.append(f"ship_until: {ship_until} is in the past.")
    return sentences


def _of_address(name: str, address: Address) -> list[str]:
    country, postcode = address.get("country", ""), address.get("zip_code", "")
    if country and country_code(country) is None:
        return [f"{name}.country: {unknown_country(country)} It was stored unchanged."]
    if postcode and not could_be_postcode(postcode, country):
        return [f"{name}.zip_code: {postcode[:30]!r} cannot be a postcode in {country}{_example(country)}."]
    return []


def unknown_country(country: str) -> str:
    """Return the message for an unknown country, with the known country that has the most similar name."""
    near = closest_country(country)
    return f"There is no country {country[:60]!r}." + (f" Did you mean {near}?" if near else "")


def _example(country: str) -> str:
    rule = postcode_rule(country)
    return f", where one looks like {rule[1]}" if rule and rule[1] else ""


def fingerprint(address: Address) -> str:
    """Return a short hash of an address."""
    return hashlib.sha256(encode(dict(sorted(address.items())))).hexdigest()[:16]
