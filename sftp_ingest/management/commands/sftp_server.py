"""`manage.py sftp_server`: serve the suppliers' upload areas until SIGTERM."""

from __future__ import annotations

import logging
import os
import resource
import signal
import sys
import threading

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from paramiko.ssh_exception import SSHException

from api import signs_of_life
from sftp_ingest.blobs.bucket import WrongUploadsUrl
from sftp_ingest.blobs.store import Store
from sftp_ingest.blobs.stores import store_for_new
from sftp_ingest.errors import StorageAway
from sftp_ingest.server.host_key import host_keys, key_paths
from sftp_ingest.server.listener import SftpServer

logger = logging.getLogger(__name__)

ASK_AGAIN_AFTER = 60.0  # seconds after which a storage that did not answer is asked again
MOST_FILES = 65_536  # enough for 1,000 connections with 60 files each, and the server's own files


class Command(BaseCommand):
    requires_system_checks: list[str] = []  # the checks of URLs are slow, and this command serves no URLs
    help = "Serve the suppliers' upload areas by SFTP on SFTP_HOST and SFTP_PORT."

    def handle(self, *args: object, **options: object) -> None:
        server = sftp_server()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: server.stop())
        serve_until_stopped(server)


def sftp_server() -> SftpServer:
    """Return a server that listens already. Raises CommandError that names the setting to change."""
    # paramiko logs a traceback for every port scan; this package logs all relevant events itself.
    logging.getLogger("paramiko").setLevel(logging.CRITICAL)
    host, port = settings.SFTP_HOST, settings.SFTP_PORT
    try:
        host_keys()
    except (OSError, SSHException) as error:
        raise CommandError(f"No host key in {key_paths()[0]}: {error}") from error
    try:
        store_for_new().require_usable()
    except (WrongUploadsUrl, OSError) as error:
        raise CommandError(f"The storage of uploads does not work (UPLOADS_URL): {error}") from error
    try:
        server = SftpServer(host, port)
    except OSError as error:
        # An unknown host has a negative number, for which the system has no text.
        number = error.errno or 0
        reason = os.strerror(number) if number > 0 else "unknown host"
        raise CommandError(
            f"SFTP cannot listen on {host}:{port} ({reason}): correct SFTP_HOST or SFTP_PORT."
        ) from error
    _allow_many_files()
    return server


def serve_until_stopped(server: SftpServer) -> None:
    """Give signs of life, and serve until `server.stop` is called.

    Serve also while the storage does not answer: an error would end the other parts of the process.
    """
    sys.stdout.write(f"SFTP listens on {settings.SFTP_HOST}:{server.port}\n")
    sys.stdout.flush()
    signs_of_life.keep_giving("sftp", lambda: {"sessions": len(server.sessions)}, main_loop=server.main_loop)
    threading.Thread(target=await_storage, args=[store_for_new()], name="storage", daemon=True).start()
    server.serve()


def await_storage(store: Store) -> None:
    """Log an error every minute until the storage answers. Meanwhile, uploads are refused with a message."""
    pause, was_away = threading.Event(), False
    while reason := _why_away(store):
        was_away = True
        logger.error("the storage of uploads does not answer (UPLOADS_URL): %s", reason)
        pause.wait(ASK_AGAIN_AFTER)
    if was_away:
        logger.warning("the storage of uploads answers again")


def _why_away(store: Store) -> str:
    """Return the reason why the storage does not answer, or an empty text."""
    try:
        store.require_answer()
    except StorageAway as error:
        return str(error.__cause__ or error)
    return ""


def _allow_many_files() -> None:
    """Raise the limit of open files. Shells and systemd start processes with a soft limit of 1024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
