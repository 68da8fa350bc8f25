"""What operators can do about a supplier's own host: see whether files can be fetched from it."""

from __future__ import annotations

from typing import Any

from accounts.actors import Actor
from accounts.operating.operator_actions import AdminAction
from api.errors import ApiError
from sftp_ingest import services
from sftp_ingest.models import RemoteHost
from sftp_ingest.remote.connection import RemoteFailed
from sftp_ingest.remote.probing import probe


def _test(host: RemoteHost, by: Actor, answers: dict[str, Any]) -> str:
    try:
        found = probe(host)
    except RemoteFailed as error:
        services.record_test(host, error.message, worked=False, by=by)
        raise ApiError(error.message) from error
    services.record_test(host, found, worked=True, by=by)
    return found


ACTIONS = (
    AdminAction[RemoteHost](
        "test",
        "Test the connection",
        _test,
        lambda host: "" if host.password else "It has no password yet: enter one first.",
        lambda host: f"The service connects to {host}, checks its key, and logs in as {host.username}.",
        help_text="It counts the files there and fetches none.",
        undo="There is nothing to undo: nothing is changed, here or there.",
        in_transaction=False,
    ),
)
