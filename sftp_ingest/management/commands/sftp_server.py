"""`manage.py sftp_server`: serve the suppliers' upload areas until SIGTERM."""

from __future__ import annotations

import logging
import os
import resource
import signal
import sys

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from paramiko.ssh_exception import SSHException

from api import signs_of_life
from sftp_ingest.blobs.bucket import WrongUploadsUrl
from sftp_ingest.blobs.stores import store_for_new
from sftp_ingest.server.host_key import host_keys, key_paths
from sftp_ingest.server.listener import SftpServer

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
        why = error.__cause__ or error
        raise CommandError(f"The storage of uploads does not work (UPLOADS_URL): {why}") from error
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
    """Give signs of life, and serve until `server.stop` is called."""
    sys.stdout.write(f"SFTP listens on {settings.SFTP_HOST}:{server.port}\n")
    sys.stdout.flush()
    signs_of_life.keep_giving("sftp", lambda: {"sessions": len(server.sessions)}, main_loop=server.main_loop)
    server.serve()


def _allow_many_files() -> None:
    """Raise the limit of open files. Shells and systemd start processes with a soft limit of 1024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
