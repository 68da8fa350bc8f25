"""The SFTP protocol: paramiko's, with clear errors and limits, and without what can be abused."""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import Any

import paramiko
from django.db import Error as DatabaseError
from paramiko import sftp as protocol

from sftp_ingest.errors import Forbidden, Missing, Refused
from sftp_ingest.files import AreaFiles
from sftp_ingest.handles import Receiving
from sftp_ingest.session import Session

logger = logging.getLogger(__name__)

LARGEST_PACKET = 1024**2
RENAME_EXTENSION = "posix-rename@openssh.com"
OPENING = (protocol.CMD_OPEN, protocol.CMD_OPENDIR)


def code_of(fault: Refused) -> int:
    if isinstance(fault, Missing):
        return int(paramiko.SFTP_NO_SUCH_FILE)
    return int(paramiko.SFTP_PERMISSION_DENIED if isinstance(fault, Forbidden) else paramiko.SFTP_FAILURE)


class Subsystem(paramiko.SFTPServer):  # type: ignore[misc]
    """One SFTP conversation. A fault of any kind becomes a status with a sentence."""

    def __init__(self, channel: paramiko.Channel, name: str, session: Session) -> None:
        super().__init__(channel, name, session, AreaFiles)
        self.session = session
        session.handlers.append(self)

    def finish_subsystem(self) -> None:
        """The end: unfinished files are dropped, and the client is told that all went well (scp asks)."""
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
        if n > LARGEST_PACKET:
            raise EOFError
        return bytes(super()._read_all(n))

    def _process(self, t: int, request_number: int, msg: paramiko.Message) -> None:
        self.session.touch()
        try:
            self._answer(t, request_number, msg)
        except Refused as fault:
            self._send_status(request_number, code_of(fault), str(fault))
        except UnicodeDecodeError:
            self._send_status(request_number, paramiko.SFTP_FAILURE, "Names are written in UTF-8.")
        except DatabaseError:
            logger.exception("SFTP: the database does not answer")
            told = "The service cannot record this just now. Nothing was changed; try again in a minute."
            self._send_status(request_number, paramiko.SFTP_FAILURE, told)
        except OSError as fault:
            logger.exception("SFTP: a file operation failed")
            told = fault.strerror or "The file system refused this."
            self._send_status(request_number, self.convert_errno(fault.errno), told)

    def _answer(self, t: int, request_number: int, msg: paramiko.Message) -> None:
        if t == protocol.CMD_CLOSE:
            self._close(request_number, msg)
        elif t == protocol.CMD_EXTENDED:
            self._extended(request_number, msg)
        elif t in OPENING and len(self.file_table) + len(self.folder_table) >= self.session.limits.handles:
            raise Refused(f"Only {self.session.limits.handles} files and folders can be open at once.")
        else:
            super()._process(t, request_number, msg)

    def _close(self, request_number: int, msg: paramiko.Message) -> None:
        """paramiko says OK whatever came of it; here a file that could not be kept is a failed close."""
        name = msg.get_binary()
        if self.folder_table.pop(name, None) is None:
            handle: Any = self.file_table.pop(name, None)
            if handle is None:
                raise Refused("There is no such handle.")
            try:
                if isinstance(handle, Receiving):
                    handle.finish()
            finally:
                handle.close()
        self._send_status(request_number, paramiko.SFTP_OK)

    def _extended(self, request_number: int, msg: paramiko.Message) -> None:
        """Of the extensions only the rename that replaces: what nobody uses cannot be misused."""
        if msg.get_text() != RENAME_EXTENSION:
            self._send_status(request_number, paramiko.SFTP_OP_UNSUPPORTED)
            return
        old, new = msg.get_text(), msg.get_text()
        self._send_status(request_number, self.server.posix_rename(old, new))
