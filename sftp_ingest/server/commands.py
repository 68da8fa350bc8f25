"""The SFTP commands of a client in its upload area. The subsystem turns their errors into answers."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

import paramiko
from django.db.models.functions import Now

from sftp_ingest.area import contents, cut_uploads, publishing, quota
from sftp_ingest.area.files import Area, changeable, status_of, writable
from sftp_ingest.area.incoming import WHOLE, IncomingFile, OpenMode
from sftp_ingest.area.made_files import made_folder
from sftp_ingest.area.paths import READ_ONLY, Parts, join_path, parse_path
from sftp_ingest.errors import Missing, NotAllowed, Refused
from sftp_ingest.models import SftpLogin, Upload
from sftp_ingest.server import authentication, made_commands
from sftp_ingest.server.attributes import attributes, disk
from sftp_ingest.server.handles import ReadHandle, UploadHandle
from sftp_ingest.server.own_uploads import OwnUploads
from sftp_ingest.server.session import Session

OK = int(paramiko.SFTP_OK)


def parts_of(path: str) -> Parts:
    return parse_path(path, allow_parent=True)


class AreaCommands(paramiko.SFTPServerInterface):  # type: ignore[misc]
    """The commands of one session in its supplier's area."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        assert session.login is not None  # a client can open a channel only after its login
        self.session = session
        self.login: SftpLogin = session.login
        self.area = Area(self.login.supplier_id)
        self.unfinished = OwnUploads(self.login, session)

    def check_login(self) -> None:
        """Read the login again, with its present limits. Raises NotAllowed if the session has to end."""
        login = authentication.still_active(self.login)
        if login is None:
            raise NotAllowed("This login was deactivated, or now belongs to another supplier.")
        self.login = login

    def canonicalize(self, path: str) -> str:
        return f"/{join_path(parts_of(path))}"

    def list_folder(self, path: str) -> list[paramiko.SFTPAttributes]:
        parts = parts_of(path)
        return [
            attributes(name, status, read_only=(*parts, name)[0] in READ_ONLY)
            for name, status in self._listing(parts)
        ]

    def _listing(self, parts: Parts) -> made_commands.Entries:
        made = made_folder(parts)
        if made:
            return made_commands.listed(made, self.area.supplier_id, parts)
        entries = self.area.listing(parts)
        return entries if parts else made_commands.with_made(entries)

    def stat(self, path: str) -> paramiko.SFTPAttributes:
        parts = parts_of(path)
        name = parts[-1] if parts else "/"
        unfinished, made = self.unfinished.seen(parts), made_folder(parts)
        if unfinished:
            return unfinished
        if made:
            status = made_commands.status_of(made, self.area.supplier_id, parts)
            return attributes(name, status, read_only=True)
        return attributes(name, self.area.status(parts), read_only=parts[:1] != () and parts[0] in READ_ONLY)

    lstat = stat  # an upload area has no links

    def statvfs(self, path: str) -> list[int]:
        """Return the quota as the size of a disk."""
        self.stat(path)
        return disk(self.login.quota_bytes, quota.used(self.area.supplier_id))

    def open(self, path: str, flags: int, attr: paramiko.SFTPAttributes) -> paramiko.SFTPHandle:
        parts = parts_of(path)
        if not flags & (os.O_WRONLY | os.O_RDWR):
            return self._open_to_read(parts)
        mode = self._open_mode(changeable(parts), flags)
        self._hold_empty_upload(parts)
        return UploadHandle(IncomingFile(self.login, parts, self.session.address, mode))

    def _open_to_read(self, parts: Parts) -> paramiko.SFTPHandle:
        """Open a file for reading.

        A session that also writes this file reads the new bytes, because sshfs closes written files late.
        """
        made, mine = made_folder(parts), self.unfinished.open_file(parts)
        if made:
            return made_commands.opened(made, self.area.supplier_id, parts, self.check_login)
        if mine and not mine.untouched:
            return ReadHandle(mine.reader(), mine.status)
        entry = self.area.file(parts)
        assert entry.blob is not None  # `file` returns only files, and every file has a blob
        return ReadHandle(contents.reader_of(entry.blob), status_of(entry))

    def _open_mode(self, parts: Parts, flags: int) -> OpenMode:
        """Return how a client opens a file for writing. Without truncation (scp), the file keeps its size.

        Raises Missing for a missing file or folder, and Refused for a folder or a partial change.
        """
        self.area.require_folder(parts[:-1])
        there, unfinished = self._file_status(parts, flags), self.unfinished.seen(parts)
        if not (there or unfinished or flags & os.O_CREAT):
            raise Missing(f"There is no {join_path(parts)}.")
        if flags & os.O_TRUNC or not (there or unfinished):
            return OpenMode(self.session)
        if unfinished and not flags & os.O_EXCL:
            return OpenMode(self.session, truncated=False, seen=unfinished.st_size, resumes=True)
        size = there.st_size if there else 0
        if size and flags & (os.O_APPEND | os.O_RDWR):
            raise Refused(WHOLE)
        return OpenMode(self.session, truncated=False, seen=size)

    def _file_status(self, parts: Parts, flags: int) -> os.stat_result | None:
        try:
            there = self.area.status(parts)
        except Missing:
            return None
        if not stat.S_ISREG(there.st_mode):
            raise Refused(f"{join_path(parts)} is a folder.")
        if flags & os.O_EXCL:
            raise Refused(f"{join_path(parts)} exists already.")
        return there

    def _hold_empty_upload(self, parts: Parts) -> None:
        """Exclude empty uploads of this path from the import. Many clients first create an empty file."""
        waiting = Upload.objects.waiting(self.area.supplier_id, join_path(parts))
        waiting.filter(size=0).update(swept_at=Now(), blob=None)

    def remove(self, path: str) -> int:
        parts = changeable(parts_of(path))
        forgotten = self.unfinished.forget(parts)
        try:
            self.area.remove(parts)
        except Missing:
            if not forgotten:
                raise
        return OK

    def mkdir(self, path: str, attr: paramiko.SFTPAttributes) -> int:
        self.area.make_folder(changeable(parts_of(path)))
        return OK

    def rmdir(self, path: str) -> int:
        self.area.remove_folder(changeable(parts_of(path)))
        return OK

    def rename(self, oldpath: str, newpath: str) -> int:
        """Rename without replacing, as in the SFTP standard."""
        with suppress(Missing):
            self.area.status(parts_of(newpath))
            raise Refused(f"{newpath} exists already.")
        return self.posix_rename(oldpath, newpath)

    def posix_rename(self, oldpath: str, newpath: str) -> int:
        """Rename and replace. Files that are renamed into an import folder count as uploads."""
        old, new = changeable(parts_of(oldpath)), changeable(parts_of(newpath))
        mine = self.unfinished.open_file(old)
        if mine:  # sshfs may rename a file before closing it
            self.area.require_folder(new[:-1])
            mine.rename(new)
            return OK
        publishing.rename(self.area, old, new, self.session.address)
        cut_uploads.drop(self.login, new)  # otherwise `stat` would show the size of the cut upload
        return OK

    def chattr(self, path: str, attr: paramiko.SFTPAttributes) -> int:
        """Set times, or the size 0, as sshfs does. Modes and owners have no effect."""
        parts = writable(parts_of(path))
        mine = self.unfinished.open_file(parts)
        if mine:
            return UploadHandle(mine).chattr(attr)
        shown = self.stat(path)
        if attr._flags & attr.FLAG_SIZE:
            self._set_size(parts, shown, attr.st_size)
        if attr._flags & attr.FLAG_AMTIME:
            self.area.set_times(parts, attr.st_atime, attr.st_mtime)
        return OK

    def _set_size(self, parts: Parts, shown: paramiko.SFTPAttributes, size: int) -> None:
        """Empty a file. Refuse every other size, except the current one."""
        if size == shown.st_size and stat.S_ISREG(shown.st_mode):
            return
        if size or not stat.S_ISREG(shown.st_mode):
            raise Refused(WHOLE)
        empty = IncomingFile(self.login, parts, self.session.address)
        try:
            empty.finish()
        finally:
            empty.discard()

    def readlink(self, path: str) -> int:
        raise Refused("Upload areas have no links.")

    def symlink(self, target_path: str, path: str) -> int:
        raise NotAllowed("Upload areas have no links.")
