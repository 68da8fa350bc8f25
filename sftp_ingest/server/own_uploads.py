"""What a login sees of its own unfinished uploads: those under way, and those that were cut (contract 13)."""

from __future__ import annotations

import os
import stat

import paramiko

from sftp_ingest.area import cut_uploads
from sftp_ingest.area.incoming import IncomingFile, open_uploads
from sftp_ingest.area.paths import Parts
from sftp_ingest.models import SftpLogin
from sftp_ingest.server.attributes import attributes


class OwnUploads:
    """One session's view of the unfinished uploads of its login."""

    def __init__(self, login: SftpLogin, session: object) -> None:
        self.login, self.session = login, session

    def open_file(self, parts: Parts) -> IncomingFile | None:
        """The upload to that path that this session has open: for it, the file is there already."""
        files = open_uploads.at(self.login, parts)
        return next((each for each in files if each.opened.session is self.session), None)

    def seen(self, parts: Parts) -> paramiko.SFTPAttributes | None:
        """How far an upload to that path came, which this session, another or none is at."""
        name = parts[-1] if parts else ""
        if mine := self.open_file(parts):
            return attributes(name, mine.status)
        for other in open_uploads.at(self.login, parts):
            if other.whole_to:
                return _cut_short(attributes(name, other.status), other.whole_to)
        cut = cut_uploads.find(self.login, parts)
        if cut is None:
            return None
        seconds = int(cut.heard_at.timestamp())
        return attributes(name, os.stat_result((stat.S_IFREG, 0, 0, 1, 0, 0, cut.kept_size, *[seconds] * 3)))

    def forget(self, parts: Parts) -> bool:
        """Drop what is unfinished at that path, if no other session is at it; whether there was any."""
        mine = self.open_file(parts)
        if mine:
            mine.discard()
        return cut_uploads.drop(self.login, parts) or mine is not None


def _cut_short(shown: paramiko.SFTPAttributes, size: int) -> paramiko.SFTPAttributes:
    shown.st_size = size
    return shown
