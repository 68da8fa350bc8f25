"""The carrier of a tracking number, its link, and a warning about a wrong check digit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote

from fulfillments.tracking.formats import FORMATS

# Other spellings of carriers, in lower case, without spaces and punctuation. `_SPELLINGS` also has the names
# in the data set.
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
    """The carrier of a tracking number, and a warning if the number is doubtful."""

    carrier: str
    is_named: bool
    """Whether the supplier named the carrier. Otherwise the carrier is derived from the number, or empty."""
    warning: str = ""

    @property
    def is_doubtful(self) -> bool:
        return bool(self.warning)


def spelled(carrier: str) -> str:
    """Return a known carrier in its standard spelling. Return an unknown carrier unchanged."""
    return _SPELLINGS.get(_key(carrier), carrier)


@lru_cache(maxsize=4096)
def identify(tracking_number: str, carrier: str = "") -> Identified:
    """Return the named carrier, or else the carrier of the number if exactly one carrier fits the number.

    A vague format (`TrackingFormat.is_vague`) does not prove a carrier, because a wrong link is worse than no
    link. The number is doubtful if it has a format of the named carrier, or of the only carrier that fits,
    but a wrong check digit.
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
    """Return the carrier that the number itself shows, or an empty text if the carrier is unknown.

    If exactly one carrier accepts the check digit, return this carrier, unless the format is vague. If no
    carrier accepts the check digit, return `doubted`, but only for a number with letters.

    A doubtful number without letters may belong to a carrier that is not in the data set.
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
    """Return the URL at which the carrier shows the parcel, or None if no URL is known."""
    url = _URLS.get(carrier)
    return url.replace("%s", quote(re.sub(r"\s", "", tracking_number), safe="")) if url else None
