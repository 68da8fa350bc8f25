"""These tests make up events with data of their own."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _every_event_fits_its_type() -> None:
    """Check nothing."""
