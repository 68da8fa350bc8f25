"""Settings of the OpenAPI document at `/v3/schema`."""

from __future__ import annotations

from typing import Any

from config.build import VERSION

SPECTACULAR: dict[str, Any] = {
    "TITLE": "The Exchange",
    "DESCRIPTION": (
        "Connects retailers and suppliers around orders. Status updates, order pushes and order cancels "
        "answer with `success`, `message` and `code`; every error of every operation does too. Codes of "
        "success: `accepted`, `shipped`, `out_of_stock`, `missing_sku`, `wrong_address`, `canceled`, "
        "`cancelation_not_allowed`, `order_created`, `order_exists`, `cancel_requested`, "
        "`order_canceled`, `order_changed`, `invoice_saved`, `lines_rejected`, `return_recorded`, "
        "`shipment_corrected`; `unchanged` where the same was done before."
    ),
    "VERSION": VERSION,
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_AUTHENTICATION": [],
    "WEBHOOKS": ["events.webhooks.described.EVENT"],
    "POSTPROCESSING_HOOKS": ["api.openapi.finishing.finish"],
    "ENFORCE_NON_BLANK_FIELDS": True,
    "ENUM_ADD_EXPLICIT_BLANK_NULL_CHOICE": False,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    # A placeholder. `api.docs` replaces it with the base URL of the request.
    "SERVERS": [{"url": "https://exchange.invalid", "description": "This service."}],
    "CONTACT": {"name": "The operators of this service"},
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
}
