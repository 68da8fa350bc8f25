"""What a client does with its area, command by command; faults are raised, and told by the subsystem."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

import paramiko

from sftp_ingest import logins
from sftp_ingest.areas import Area, changeable
from sftp_ingest.attributes import attributes
from sftp_ingest.database import own_connection
from sftp_ingest.errors import Forbidden, Missing, Refused
from sftp_ingest.handles import Reading, Receiving
from sftp_ingest.incoming import Incoming
from sftp_ingest.ledger import ledger
from sftp_ingest.models import SftpLogin
from sftp_ingest.paths import READ_ONLY, Parts, joined, kind_of, split
from sftp_ingest.placing import arrive
from sftp_ingest.session import Session

OK = int(paramiko.SFTP_OK)


def parts_of(path: str) -> Parts:
    return split(path, climb=True)


class AreaFiles(paramiko.SFTPServerInterface):  # type: ignore[misc]
    """One session's view: the supplier's own area, and nothing above it."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        assert session.login is not None  # no channel is opened before
        self.session = session
        self.login: SftpLogin = session.login
        self.area = Area(self.login.supplier_id)

    def canonicalize(self, path: str) -> str:
        return f"/{joined(parts_of(path))}"

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
            return Reading(self.area.open(parts))
        self._refuse_parts(changeable(parts), flags)
        return Receiving(Incoming(login, parts, self.session.address))

    def _refuse_parts(self, parts: Parts, flags: int) -> None:
        """A file is put whole, into a folder that is there, over nothing but a file."""
        with self.area.folder(parts[:-1]):
            pass
        try:
            there = self.area.status(parts)
        except Missing:
            if not flags & os.O_CREAT:
                raise
            return
        if not stat.S_ISREG(there.st_mode):
            raise Refused(f"{joined(parts)} is a folder.")
        if flags & os.O_EXCL:
            raise Refused(f"{joined(parts)} is there already.")
        if flags & os.O_APPEND or not flags & os.O_TRUNC:
            raise Refused("Files are put whole: none is appended to, resumed, or changed in part.")

    def _login_now(self) -> SftpLogin:
        with own_connection():
            login = logins.refreshed(self.login)
        if login is None:
            raise Forbidden("This login was switched off.")
        return login

    def remove(self, path: str) -> int:
        parts = changeable(parts_of(path))
        status = self.area.status(parts)
        if not stat.S_ISREG(status.st_mode):
            raise Refused(f"{joined(parts)} is a folder.")
        with self.area.folder(parts[:-1]) as folder:
            os.unlink(parts[-1], dir_fd=folder)
        ledger.freed(self.area, status.st_size)
        return OK

    def mkdir(self, path: str, attr: paramiko.SFTPAttributes) -> int:
        parts = changeable(parts_of(path))
        with self.area.folder(parts[:-1]) as folder:
            try:
                os.mkdir(parts[-1], 0o750, dir_fd=folder)
            except FileExistsError as error:
                raise Refused(f"{joined(parts)} is there already.") from error
        return OK

    def rmdir(self, path: str) -> int:
        parts = changeable(parts_of(path))
        self.area.status(parts)
        with self.area.folder(parts[:-1]) as folder:
            try:
                os.rmdir(parts[-1], dir_fd=folder)
            except OSError as error:
                raise Refused(f"{joined(parts)} is no empty folder.") from error
        return OK

    def rename(self, oldpath: str, newpath: str) -> int:
        """SFTP's own rename, which replaces nothing."""
        with suppress(Missing):
            self.area.status(parts_of(newpath))
            raise Refused(f"{newpath} is there already.")
        return self.posix_rename(oldpath, newpath)

    def posix_rename(self, oldpath: str, newpath: str) -> int:
        """Rename, replacing a file. What thereby comes to lie where imports look is an upload, too."""
        old, new = changeable(parts_of(oldpath)), changeable(parts_of(newpath))
        if stat.S_ISREG(self.area.status(old).st_mode) and kind_of(joined(new)) and not kind_of(joined(old)):
            arrive(self.area, old, new, self.session.address)
        else:
            self._move(old, new)
        return OK

    def _move(self, old: Parts, new: Parts) -> None:
        with self.area.folder(old[:-1]) as source, self.area.folder(new[:-1]) as target:
            try:
                os.rename(old[-1], new[-1], src_dir_fd=source, dst_dir_fd=target)
            except OSError as error:
                raise Refused(f"{joined(old)} cannot become {joined(new)}: {error.strerror}.") from error

    def chattr(self, path: str, attr: paramiko.SFTPAttributes) -> int:
        """Modes, owners and times are taken politely and without effect; a size would cut the file."""
        parts = changeable(parts_of(path))
        status = self.area.status(parts)
        if attr._flags & attr.FLAG_SIZE and attr.st_size != status.st_size:
            raise Refused("Files are put whole: their size cannot be set.")
        return OK

    def readlink(self, path: str) -> int:
        raise Refused("There are no links here.")

    def symlink(self, target_path: str, path: str) -> int:
        raise Forbidden("No links can be made here.")
