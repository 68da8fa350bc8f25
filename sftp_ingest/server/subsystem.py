"""The SFTP protocol as paramiko has it, with clear errors and limits, and without what can be abused."""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import Any

import paramiko
from django.db import Error as DatabaseError
from paramiko import sftp as protocol

from sftp_ingest.errors import Forbidden, Missing, Refused
from sftp_ingest.server.commands import AreaCommands
from sftp_ingest.server.handles import UploadHandle
from sftp_ingest.server.session import Session

logger = logging.getLogger(__name__)

MAX_PACKET = 1024**2
RENAME_EXTENSION = "posix-rename@openssh.com"
OPEN_REQUESTS = (protocol.CMD_OPEN, protocol.CMD_OPENDIR)


def status_code(error: Refused) -> int:
    if isinstance(error, Missing):
        return int(paramiko.SFTP_NO_SUCH_FILE)
    return int(paramiko.SFTP_PERMISSION_DENIED if isinstance(error, Forbidden) else paramiko.SFTP_FAILURE)


class Subsystem(paramiko.SFTPServer):  # type: ignore[misc]
    """One SFTP conversation. An error of any kind becomes a status with a sentence."""

    def __init__(self, channel: paramiko.Channel, name: str, session: Session) -> None:
        super().__init__(channel, name, session, AreaCommands)
        self.session = session
        session.handlers.append(self)

    def finish_subsystem(self) -> None:
        """Drop unfinished files, and report exit status 0, which scp waits for."""
        with suppress(OSError, EOFError, paramiko.SSHException):
            self.sock.send_exit_status(0)
        super().finish_subsystem()

    def _send_server_version(self) -> None:
        kind, _ = self._read_packet()
        if kind != protocol.CMD_INIT:
            raise paramiko.SFTPError("Incompatible sftp protocol")
        hello = paramiko.Message()
        hello.add_int(protocol._VERSION)
        hello.add_string(RENAME_EXTENSION)
        hello.add_string("1")
        self._send_packet(protocol.CMD_VERSION, hello)

    def _read_all(self, n: int) -> bytes:
        if n > MAX_PACKET:
            raise EOFError
        return bytes(super()._read_all(n))

    def _process(self, t: int, request_number: int, msg: paramiko.Message) -> None:
        self.session.touch()
        try:
            self._answer(t, request_number, msg)
        except Refused as error:
            self._send_status(request_number, status_code(error), str(error))
        except UnicodeDecodeError:
            self._send_status(request_number, paramiko.SFTP_FAILURE, "Names are written in UTF-8.")
        except DatabaseError:
            logger.exception("SFTP: the database does not answer")
            message = "The service cannot record this just now. Nothing was changed; try again in a minute."
            self._send_status(request_number, paramiko.SFTP_FAILURE, message)
        except OSError as error:
            logger.exception("SFTP: a file operation failed")
            message = error.strerror or "The file system refused this."
            self._send_status(request_number, self.convert_errno(error.errno), message)

    def _answer(self, t: int, request_number: int, msg: paramiko.Message) -> None:
        limit = self.session.limits.handles
        if t == protocol.CMD_CLOSE:
            self._close(request_number, msg)
        elif t == protocol.CMD_EXTENDED:
            self._extended(request_number, msg)
        elif t in OPEN_REQUESTS and len(self.file_table) + len(self.folder_table) >= limit:
            raise Refused(f"Only {limit} files and folders can be open at once.")
        else:
            super()._process(t, request_number, msg)

    def _close(self, request_number: int, msg: paramiko.Message) -> None:
        """paramiko always answers OK; here the CLOSE of a file that could not be kept fails."""
        name = msg.get_binary()
        if self.folder_table.pop(name, None) is None:
            handle: Any = self.file_table.pop(name, None)
            if handle is None:
                raise Refused("There is no such handle.")
            try:
                if isinstance(handle, UploadHandle):
                    handle.finish()
            finally:
                handle.close()
        self._send_status(request_number, paramiko.SFTP_OK)

    def _extended(self, request_number: int, msg: paramiko.Message) -> None:
        """The only extension is the rename that replaces: what nobody uses cannot be misused."""
        if msg.get_text() != RENAME_EXTENSION:
            self._send_status(request_number, paramiko.SFTP_OP_UNSUPPORTED)
            return
        old, new = msg.get_text(), msg.get_text()
        self._send_status(request_number, self.server.posix_rename(old, new))
