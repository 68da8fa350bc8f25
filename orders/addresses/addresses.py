"""What is made of an address on its way in, and what is doubtful about it (contract 13, *Addresses*)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import date

from django.utils import timezone

from api.renderers import encode
from orders.addresses.countries import closest_country, could_be_postcode, country_code, postcode_rule

Address = Mapping[str, str]


def normalised(address: Address) -> dict[str, str]:
    """With the country as its ISO 3166-1 alpha-2 code; what is no country stays as it came."""
    return {**address, "country": country_code(address.get("country", "")) or address.get("country", "")}


def has_unknown_country(address: Address) -> bool:
    """Whether nobody can say to which country it goes."""
    return country_code(address.get("country", "")) is None


def warnings(shipping: Address, billing: Address, ship_until: date | None) -> list[str]:
    """What of an order can hardly be meant, as sentences; nothing of it is refused."""
    found = _of_address("shipping_address", shipping)
    if billing != shipping:
        found += _of_address("billing_address", billing)
    if ship_until is not None and ship_until < timezone.now().date():
        found.append(f"ship_until: {ship_until} is in the past.")
    return found


def _of_address(name: str, address: Address) -> list[str]:
    country, postcode = address.get("country", ""), address.get("zip_code", "")
    if country and country_code(country) is None:
        return [f"{name}.country: {unknown_country(country)} It was kept as it is."]
    if postcode and not could_be_postcode(postcode, country):
        return [f"{name}.zip_code: {postcode[:30]!r} cannot be a postcode in {country}{_example(country)}."]
    return []


def unknown_country(country: str) -> str:
    """A sentence that says so, and which country may be meant."""
    near = closest_country(country)
    return f"There is no country {country[:60]!r}." + (f" Is {near} meant?" if near else "")


def _example(country: str) -> str:
    rule = postcode_rule(country)
    return f", where one looks like {rule[1]}" if rule and rule[1] else ""


def fingerprint(address: Address) -> str:
    """A short text that differs when an address does."""
    return hashlib.sha256(encode(dict(sorted(address.items())))).hexdigest()[:16]
