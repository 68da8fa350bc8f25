"""A database of the bench's own, made for one run and dropped after it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager


@contextmanager
def own_database() -> Iterator[None]:
    """Django on an empty, migrated database; with embedded servers where no URL is given."""
    from config.embedded.servers import passing_servers

    with ExitStack() as servers:
        os.environ.update(servers.enter_context(passing_servers(os.environ)))
        import django

        django.setup()
        from django.db import connection

        name = connection.settings_dict["NAME"]
        connection.settings_dict.setdefault("TEST", {})["NAME"] = f"bench_{name}"
        connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
        try:
            yield
        finally:
            connection.creation.destroy_test_db(name, verbosity=0)
