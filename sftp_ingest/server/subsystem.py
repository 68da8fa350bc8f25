"""paramiko's SFTP server with clear errors and limits, and without commands that clients could abuse."""

from __future__ import annotations

import errno
import logging
from contextlib import nullcontext, suppress

import paramiko
from django.db import Error as DatabaseError
from paramiko import sftp as protocol

from sftp_ingest.database import own_connection
from sftp_ingest.errors import Missing, NotAllowed, Refused
from sftp_ingest.server.commands import AreaCommands
from sftp_ingest.server.extensions import EXTENSIONS, Handle, greeting
from sftp_ingest.server.handles import FolderHandle, UploadHandle
from sftp_ingest.server.made_commands import MadeHandle
from sftp_ingest.server.session import Session

logger = logging.getLogger(__name__)

MAX_MESSAGE = 1024**2
OPEN_REQUESTS = (protocol.CMD_OPEN, protocol.CMD_OPENDIR)
SLOW_REQUESTS = (protocol.CMD_READ, protocol.CMD_WRITE, protocol.CMD_CLOSE)
NAMES_AT_ONCE = 100
FULL = "The disk of this service is full. Try again after its operators have made room."
NO_HANDLE = "There is no such handle."
MOST_WORDS = 100  # the most messages on one client's standard error


def status_code(error: Refused) -> int:
    if isinstance(error, Missing):
        return int(paramiko.SFTP_NO_SUCH_FILE)
    return int(paramiko.SFTP_PERMISSION_DENIED if isinstance(error, NotAllowed) else paramiko.SFTP_FAILURE)


def _refusal_of(error: OSError) -> Refused:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return Refused(FULL)
    return Refused(error.strerror or "The file system refused this.")


class Subsystem(paramiko.SFTPServer):  # type: ignore[misc]
    """The SFTP commands of one channel. Every error becomes a status with a message."""

    def __init__(self, channel: paramiko.Channel, name: str, session: Session) -> None:
        super().__init__(channel, name, session, AreaCommands)
        self.session = session
        self._words = MOST_WORDS if session.shows_errors else 0
        session.handlers.append(self)

    def finish_subsystem(self) -> None:
        """Send exit status 0, for which scp waits, and cut unfinished uploads."""
        with suppress(OSError, EOFError, paramiko.SSHException):
            self.sock.send_exit_status(0)
        super().finish_subsystem()

    def _send_server_version(self) -> None:
        kind, _ = self._read_packet()
        if kind != protocol.CMD_INIT:
            raise paramiko.SFTPError("Incompatible sftp protocol")
        self._send_packet(protocol.CMD_VERSION, greeting())

    def _read_all(self, n: int) -> bytes:
        if n > MAX_MESSAGE:
            raise EOFError
        return bytes(super()._read_all(n))

    def _process(self, t: int, request_number: int, msg: paramiko.Message) -> None:
        self.session.touch()
        try:
            # Slow requests borrow a database connection only for their short database work.
            with nullcontext() if t in SLOW_REQUESTS else own_connection():
                if t not in SLOW_REQUESTS:
                    self.server.check_login()
                self._answer(t, request_number, msg)
        except Refused as error:
            self._refuse(request_number, error)
        except UnicodeDecodeError:
            self._send_status(
                request_number, paramiko.SFTP_FAILURE, "The name is not UTF-8. Send it in UTF-8."
            )
        except DatabaseError:
            logger.exception("SFTP: the database does not answer")
            message = "The database does not answer. Nothing was changed. Try again in a minute."
            self._refuse(request_number, Refused(message))
        except OSError as error:
            if error.errno is None and self.sock.closed:  # the client has disconnected
                return
            logger.exception("SFTP: a file operation failed")
            self._refuse(request_number, _refusal_of(error))

    def _refuse(self, request_number: int, error: Refused) -> None:
        """Send the reason also to standard error, because OpenSSH shows only the code of a status."""
        if self._words and not isinstance(error, Missing):
            self._words -= 1
            self.sock.sendall_stderr(f"{error}\r\n".encode())
        self._send_status(request_number, status_code(error), str(error))

    def _answer(self, t: int, request_number: int, msg: paramiko.Message) -> None:
        limit = self.session.limits.handles
        if t == protocol.CMD_CLOSE:
            self._close(request_number, msg)
        elif t == protocol.CMD_EXTENDED:
            self._extended(request_number, msg)
        elif t == protocol.CMD_FSETSTAT:
            handle, wanted = self._opened(msg.get_binary()), paramiko.SFTPAttributes._from_msg(msg)
            self._send_status(request_number, handle.chattr(wanted))
        elif t in OPEN_REQUESTS and len(self.file_table) + len(self.folder_table) >= limit:
            raise Refused(f"Only {limit} files and folders can be open at once. Close some first.")
        elif t not in protocol.CMD_NAMES:
            self._send_status(request_number, paramiko.SFTP_OP_UNSUPPORTED)
        else:
            super()._process(t, request_number, msg)

    def _opened(self, name: bytes) -> Handle:  # not `_handle`: Thread has this attribute since Python 3.13
        handle: Handle | None = self.file_table.get(name)
        if handle is None:
            raise Refused(NO_HANDLE)
        return handle

    def _close(self, request_number: int, msg: paramiko.Message) -> None:
        """Finish and close a file. Unlike paramiko, answer with an error if the file could not be stored."""
        name = msg.get_binary()
        if self.folder_table.pop(name, None) is None:
            handle = self._opened(name)
            del self.file_table[name]
            try:
                if isinstance(handle, (UploadHandle, MadeHandle)):
                    with own_connection():
                        self.server.check_login()
                    handle.finish()
            finally:
                handle.close()
        self._send_status(request_number, paramiko.SFTP_OK)

    def _open_folder(self, request_number: int, path: str) -> None:
        folder = FolderHandle(self.server.list_folder(path))
        self._send_handle_response(request_number, folder, True)

    def _read_folder(self, request_number: int, folder: FolderHandle) -> None:
        """Send the next NAMES_AT_ONCE names. paramiko would send sixteen and copy the rest each time."""
        entries = folder.next(NAMES_AT_ONCE)
        if not entries:
            self._send_status(request_number, paramiko.SFTP_EOF)
            return
        names = paramiko.Message()
        names.add_int(request_number)
        names.add_int(len(entries))
        for entry in entries:
            names.add_string(entry.filename)
            names.add_string(str(entry))
            entry._pack(names)
        self._send_packet(protocol.CMD_NAME, names)

    def _extended(self, request_number: int, msg: paramiko.Message) -> None:
        known = EXTENSIONS.get(msg.get_text())
        if known is None:
            self._send_status(request_number, paramiko.SFTP_OP_UNSUPPORTED)
            return
        reply = known[1](self.server, self._opened, msg)
        if isinstance(reply, int):
            self._send_status(request_number, reply)
        else:
            numbers = [paramiko.sftp.int64(number) for number in reply]
            self._response(request_number, protocol.CMD_EXTENDED_REPLY, *numbers)
