"""Bodies for pushes of orders in tests."""

from __future__ import annotations

from itertools import count
from typing import Any

ADDRESS = {
    "first_name": "Ada",
    "last_name": "Byron",
    "address1": "12 St James's Square",
    "city": "London",
    "zip_code": "SW1Y 4JH",
    "country": "GB",
    "phone_number": "+44 20 7946 0000",
    "email": "ada@example.org",
}
_numbers = count(1)


def an_order(*lines: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return the body of a push with these lines; `fields` are added or replaced."""
    body = {"retailer_order_id": f"R-{next(_numbers)}", "shipping_address": ADDRESS, "order_lines": [*lines]}
    return body | fields
