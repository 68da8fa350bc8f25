"""The operators' test whether files can be fetched from a supplier's own host."""

from __future__ import annotations

import time

import paramiko

from sftp_ingest.models import RemoteHost
from sftp_ingest.remote.connection import OnReceived, RemoteFailed, connect

MOST_SECONDS = 30.0  # the limit of the listing; the connection has its own limit


def probe(host: RemoteHost) -> str:
    """Log in, list the files, and return the result as a sentence. Raises RemoteFailed with the reason.

    The test takes about a minute at most. Do not call this inside a transaction.
    """
    try:
        with connect(host, _until(time.monotonic() + MOST_SECONDS)) as client:
            files = client.listdir(".")
    except TimeoutError as error:
        raise RemoteFailed("remote_timeout", f"{host} did not answer in time.") from error
    except (OSError, EOFError, paramiko.SSHException) as error:
        raise RemoteFailed(
            "remote_failed", f"{host} accepted the login but did not list files: {error}."
        ) from error
    listed = _count(len(files))
    return f"{host} has the registered key and accepted the login {host.username}. It lists {listed}."


def _until(deadline: float) -> OnReceived:
    def on_received(number: int) -> None:
        if time.monotonic() > deadline:
            raise TimeoutError

    return on_received


def _count(number: int) -> str:
    return "1 file or folder" if number == 1 else f"{number} files and folders"
