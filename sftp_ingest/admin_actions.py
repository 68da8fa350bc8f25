"""The operators' action that tests whether files can be fetched from a supplier's own host."""

from __future__ import annotations

from typing import Any

from accounts.actors import Actor
from accounts.operating.operator_actions import AdminAction
from api.errors import ApiError
from sftp_ingest import services
from sftp_ingest.models import RemoteHost


def _test(host: RemoteHost, by: Actor, answers: dict[str, Any]) -> str:
    # Import here: paramiko needs 20 MB of memory in each process that imports it.
    from sftp_ingest.remote.connection import RemoteFailed
    from sftp_ingest.remote.probing import probe

    try:
        result = probe(host)
    except RemoteFailed as error:
        services.record_test(host, error.message, worked=False, by=by)
        raise ApiError(error.message) from error
    services.record_test(host, result, worked=True, by=by)
    return result


ACTIONS = (
    AdminAction[RemoteHost](
        "test",
        "Test connection",
        _test,
        lambda host: "" if host.password else "The host has no password yet. Enter one first.",
        lambda host: f"The service connects to {host}, checks its key, and logs in as {host.username}.",
        help_text="The test counts the files on the host and fetches nothing.",
        undo="There is nothing to undo. The test changes nothing, neither here nor on the host.",
        in_transaction=False,
    ),
)
