"""Servers and a database of the bench's own, made for one run and dropped after it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import django
from django.db import connection

from tools.launcher.embedded.servers import temporary_servers


@contextmanager
def own_servers() -> Iterator[None]:
    """Django with embedded servers where no URL is given: from here on, models can be imported."""
    with temporary_servers(os.environ) as urls:
        os.environ.update({"RATE_LIMIT": "off", **urls})
        django.setup()
        yield


@contextmanager
def own_database() -> Iterator[None]:
    """An empty, migrated database."""
    name = connection.settings_dict["NAME"]
    connection.settings_dict.setdefault("TEST", {})["NAME"] = f"bench_{name}"
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    try:
        yield
    finally:
        connection.creation.destroy_test_db(name, verbosity=0)
