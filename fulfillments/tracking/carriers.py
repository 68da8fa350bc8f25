"""The carrier of a tracking number, its link, and doubts about its check digit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote

from fulfillments.tracking.formats import FORMATS

# Spellings of the same carrier, without blanks and signs. The names in the data set are known as well.
ALIASES = {
    "UPS": ("unitedparcelservice",),
    "USPS": ("unitedstatespostalservice", "uspostalservice"),
    "FedEx": ("federalexpress", "fedexground", "fedexexpress", "fedexhomedelivery", "fedexsmartpost"),
    "DHL": ("dhlexpress", "dhlecommerce", "dhlparcel", "dhlpaket"),
    "DPD": ("dpdgroup", "dynamicparceldistribution"),
    "GLS": ("generallogisticssystems",),
    "Amazon": ("amazonlogistics",),
    "OnTrac": ("ontraclogistics",),
    "Old Dominion": ("olddominionfreightline", "odfl"),
    "Spee-Dee": ("speedeedelivery",),
}


def _key(carrier: str) -> str:
    return re.sub(r"[\W_]", "", carrier).lower()


_SPELLINGS = {_key(each.carrier): each.carrier for each in FORMATS}
_SPELLINGS |= {_key(name): name for each in FORMATS for name in each.couriers.values()}
_SPELLINGS |= {_key(name): name for name in ALIASES}
_SPELLINGS |= {alias: name for name, aliases in ALIASES.items() for alias in aliases}
_URLS = {each.carrier: each.url for each in reversed(FORMATS) if each.url}


@dataclass(frozen=True)
class Identified:
    """The carrier of a tracking number, and a doubt about the number."""

    carrier: str
    is_named: bool
    """Whether the supplier named the carrier; otherwise it is derived, or unknown."""
    warning: str = ""

    @property
    def is_doubtful(self) -> bool:
        return bool(self.warning)


def spelled(carrier: str) -> str:
    """Return a known carrier in its one spelling. An unknown carrier is returned unchanged."""
    return _SPELLINGS.get(_key(carrier), carrier)


@lru_cache(maxsize=4096)
def identify(tracking_number: str, carrier: str = "") -> Identified:
    """Return the carrier of a parcel: as named, else derived if exactly one carrier fits the number.

    A format that any number of its length fits names no carrier: a wrong link is worse than none.
    The number is doubtful if it has a format of the named or only fitting carrier, but no right check digit.
    """
    number = re.sub(r"\s", "", tracking_number).upper()
    named = spelled(carrier)
    fitting, right, proved = set[str](), set[str](), set[str]()
    for each in FORMATS:
        match = each.pattern.fullmatch(number)
        if match and (found := each.carrier_of(match)):
            fitting.add(found)
            if each.is_right(match):
                right.add(found)
                if not each.is_vague:
                    proved.add(found)
    if named:
        doubted = named if named in fitting - right else ""
    else:
        doubted = next(iter(fitting)) if len(fitting) == 1 and not right else ""
    return Identified(
        carrier=named or _derived(number, right, proved, doubted),
        is_named=bool(named),
        warning=_doubt(tracking_number, doubted) if doubted else "",
    )


def _derived(number: str, right: set[str], proved: set[str], doubted: str) -> str:
    """Return the only carrier whose format is right, or the doubted one if the number has letters.

    A mistyped number of digits only may belong to a carrier that the data set does not know.
    """
    if len(right) == 1:
        return next(iter(right & proved), "")
    return doubted if doubted and not number.isdigit() else ""


def _doubt(tracking_number: str, carrier: str) -> str:
    return (
        f"{tracking_number} looks like a tracking number of {carrier}, but its check digit is wrong. "
        "Compare it with the label, and correct the parcel if it differs."
    )


def tracking_url(tracking_number: str, carrier: str) -> str | None:
    """Return the page on which the carrier shows the parcel, or None for a carrier without one."""
    url = _URLS.get(carrier)
    return url.replace("%s", quote(re.sub(r"\s", "", tracking_number), safe="")) if url else None
