"""A registered host of a supplier, for which these tests use our own SFTP server."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from accounts.models import Supplier
from sftp_ingest.models import RemoteHost, SftpLogin
from sftp_ingest.server.host_key import public_line
from sftp_ingest.server.listener import SftpServer
from tests.factories import RemoteHostFactory
from tests.sftp_ingest.conftest import PASSWORD


@pytest.fixture
def registered(
    acme: Supplier, rival: Supplier, login_of: Callable[..., SftpLogin], server: SftpServer
) -> RemoteHost:
    """Register our own server as Acme's remote host. Its files are in the area of the login `rival`."""
    login_of(rival)
    return RemoteHostFactory.create(
        supplier=acme,
        host="127.0.0.1",
        port=server.port,
        host_key=public_line(),
        username="rival",
        password=PASSWORD,
    )
