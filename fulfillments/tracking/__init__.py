"""Carriers and their tracking numbers, from the open data set in `formats.json` (docs/adr/0109).

1. `check_digits.py`: the algorithms of check digits.
2. `formats.py`: the formats of tracking numbers, read from the data set.
3. `carriers.py`: the carrier, the link and the doubts of a tracking number.
4. `updating.py`: makes `formats.json` from a copy of the data set.
"""

from fulfillments.tracking.carriers import Identified, identify, tracking_url

__all__ = ["Identified", "identify", "tracking_url"]
