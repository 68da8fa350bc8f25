"""Whether a supplier's own host can be fetched from: asked by an operator who has just registered it."""

from __future__ import annotations

import time

import paramiko

from sftp_ingest.models import RemoteHost
from sftp_ingest.remote.connection import Heed, RemoteFailed, connect

MOST_SECONDS = 30.0  # for looking around, once it is connected


def probe(host: RemoteHost) -> str:
    """Log in and look around; what was found, in a sentence. Raises RemoteFailed, with what went wrong.

    It waits for the host for a minute or so at most. Not to be called within a transaction.
    """
    try:
        with connect(host, _until(time.monotonic() + MOST_SECONDS)) as client:
            files = client.listdir(".")
    except TimeoutError as error:
        raise RemoteFailed("remote_timeout", f"{host} did not answer in time.") from error
    except (OSError, EOFError, paramiko.SSHException) as error:
        raise RemoteFailed("remote_failed", f"{host} took the login, but shows no files: {error}.") from error
    return f"{host} has the registered key and took the login {host.username}: {_count(len(files))} there."


def _until(deadline: float) -> Heed:
    def heed(received: int) -> None:
        if time.monotonic() > deadline:
            raise TimeoutError

    return heed


def _count(number: int) -> str:
    return "1 file or folder is" if number == 1 else f"{number} files and folders are"
