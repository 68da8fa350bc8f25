"""Carriers and their tracking numbers, from the open data set in `formats.json` (docs/adr/0109).

1. `check_digits.py`: the algorithms of check digits.
2. `formats.py`: the formats of tracking numbers, read from the data set.
3. `carriers.py`: the carrier and the link of a tracking number, and a warning about a wrong check digit.
4. `updating.py`: the creation of `formats.json` from a copy of the data set.
"""

from fulfillments.tracking.carriers import Identified, identify, tracking_url

__all__ = ["Identified", "identify", "tracking_url"]
