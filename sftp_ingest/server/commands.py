"""What a client may do with its area, command by command. Errors are raised; the subsystem answers them."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

import paramiko
from django.db.models.functions import Now

from sftp_ingest.area.files import Area, changeable
from sftp_ingest.area.incoming import WHOLE, IncomingFile
from sftp_ingest.area.paths import READ_ONLY, Parts, join_path, kind_of, parse_path
from sftp_ingest.area.publishing import publish_renamed
from sftp_ingest.area.quota import usage_counter
from sftp_ingest.database import own_connection
from sftp_ingest.errors import Forbidden, Missing, Refused
from sftp_ingest.models import SftpLogin, Upload
from sftp_ingest.server import authentication
from sftp_ingest.server.attributes import attributes
from sftp_ingest.server.handles import ReadHandle, UploadHandle
from sftp_ingest.server.session import Session

OK = int(paramiko.SFTP_OK)


def parts_of(path: str) -> Parts:
    return parse_path(path, allow_parent=True)


class AreaCommands(paramiko.SFTPServerInterface):  # type: ignore[misc]
    """One session's view: the supplier's own area, and nothing above it."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        assert session.login is not None  # no channel is opened before
        self.session = session
        self.login: SftpLogin = session.login
        self.area = Area(self.login.supplier_id)

    def canonicalize(self, path: str) -> str:
        return f"/{join_path(parts_of(path))}"

    def list_folder(self, path: str) -> list[paramiko.SFTPAttributes]:
        parts = parts_of(path)
        return [
            attributes(name, status, read_only=(*parts, name)[0] in READ_ONLY)
            for name, status in self.area.listing(parts)
        ]

    def stat(self, path: str) -> paramiko.SFTPAttributes:
        parts = parts_of(path)
        name = parts[-1] if parts else "/"
        return attributes(name, self.area.status(parts), read_only=parts[:1] != () and parts[0] in READ_ONLY)

    lstat = stat  # there are no links

    def open(self, path: str, flags: int, attr: paramiko.SFTPAttributes) -> paramiko.SFTPHandle:
        parts = parts_of(path)
        login = self._login_now()
        if not flags & (os.O_WRONLY | os.O_RDWR):
            return ReadHandle(self.area.open(parts))
        over = self._size_kept(changeable(parts), flags)
        self._hold_empty_upload(parts)
        return UploadHandle(IncomingFile(login, parts, self.session.address, over=over))

    def _size_kept(self, parts: Parts, flags: int) -> int | None:
        """The size of a file that is opened for writing without truncating it, as scp does; else None.

        Raises Missing, Refused: a file is put whole, into a folder that is there, over nothing but a file.
        """
        with self.area.folder(parts[:-1]):
            pass
        try:
            there = self.area.status(parts)
        except Missing:
            if not flags & os.O_CREAT:
                raise
            return None
        if not stat.S_ISREG(there.st_mode):
            raise Refused(f"{join_path(parts)} is a folder.")
        if flags & os.O_EXCL:
            raise Refused(f"{join_path(parts)} is there already.")
        if flags & os.O_APPEND or (flags & os.O_RDWR and not flags & os.O_TRUNC):
            raise Refused(WHOLE)
        return None if flags & os.O_TRUNC else there.st_size

    def _hold_empty_upload(self, parts: Parts) -> None:
        """Do not import an empty file that this client made to fill it now, as many do."""
        with own_connection():
            Upload.objects.waiting(self.area.supplier_id, join_path(parts)).filter(size=0).update(
                swept_at=Now()
            )

    def _login_now(self) -> SftpLogin:
        with own_connection():
            login = authentication.still_active(self.login)
        if login is None:
            raise Forbidden("This login was switched off.")
        return login

    def remove(self, path: str) -> int:
        parts = changeable(parts_of(path))
        status = self.area.status(parts)
        if not stat.S_ISREG(status.st_mode):
            raise Refused(f"{join_path(parts)} is a folder.")
        with self.area.folder(parts[:-1]) as folder:
            os.unlink(parts[-1], dir_fd=folder)
        usage_counter.subtract(self.area, status.st_size)
        return OK

    def mkdir(self, path: str, attr: paramiko.SFTPAttributes) -> int:
        parts = changeable(parts_of(path))
        with self.area.folder(parts[:-1]) as folder:
            try:
                os.mkdir(parts[-1], 0o750, dir_fd=folder)
            except FileExistsError as error:
                raise Refused(f"{join_path(parts)} is there already.") from error
        return OK

    def rmdir(self, path: str) -> int:
        parts = changeable(parts_of(path))
        self.area.status(parts)
        with self.area.folder(parts[:-1]) as folder:
            try:
                os.rmdir(parts[-1], dir_fd=folder)
            except OSError as error:
                raise Refused(f"{join_path(parts)} is no empty folder.") from error
        return OK

    def rename(self, oldpath: str, newpath: str) -> int:
        """SFTP's own rename, which replaces nothing."""
        with suppress(Missing):
            self.area.status(parts_of(newpath))
            raise Refused(f"{newpath} is there already.")
        return self.posix_rename(oldpath, newpath)

    def posix_rename(self, oldpath: str, newpath: str) -> int:
        """Rename, replacing a file. A file renamed to where imports look is an upload, too."""
        old, new = changeable(parts_of(oldpath)), changeable(parts_of(newpath))
        is_file = stat.S_ISREG(self.area.status(old).st_mode)
        if is_file and kind_of(join_path(new)) and not kind_of(join_path(old)):
            publish_renamed(self.area, old, new, self.session.address)
        else:
            self._move(old, new)
        return OK

    def _move(self, old: Parts, new: Parts) -> None:
        with self.area.folder(old[:-1]) as source, self.area.folder(new[:-1]) as target:
            try:
                os.rename(old[-1], new[-1], src_dir_fd=source, dst_dir_fd=target)
            except OSError as error:
                raise Refused(
                    f"{join_path(old)} cannot become {join_path(new)}: {error.strerror}."
                ) from error

    def chattr(self, path: str, attr: paramiko.SFTPAttributes) -> int:
        """Modes, owners and times are accepted without effect; a size would cut the file."""
        parts = changeable(parts_of(path))
        status = self.area.status(parts)
        if attr._flags & attr.FLAG_SIZE and attr.st_size != status.st_size:
            raise Refused("Files are put whole: their size cannot be set.")
        return OK

    def readlink(self, path: str) -> int:
        raise Refused("There are no links here.")

    def symlink(self, target_path: str, path: str) -> int:
        raise Forbidden("No links can be made here.")
