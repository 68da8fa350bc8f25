"""The typed Python client of the Exchange."""

from exchange_client.async_client import AsyncRetailer, AsyncSupplier
from exchange_client.client import Retailer, Supplier
from exchange_client.errors import ApiError, ExchangeError, FieldError, NotReached
from exchange_client.values import csv_lines
from exchange_client.version import __version__
from exchange_client.webhooks import InvalidSignature, verify

__all__ = [
    "ApiError",
    "AsyncRetailer",
    "AsyncSupplier",
    "ExchangeError",
    "FieldError",
    "InvalidSignature",
    "NotReached",
    "Retailer",
    "Supplier",
    "__version__",
    "csv_lines",
    "verify",
]
