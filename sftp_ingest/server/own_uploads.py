"""A session's view of the unfinished uploads of its login, in progress or cut (contract 8)."""

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
        """Return the upload to a path that this session has open, or None."""
        files = open_uploads.at(self.login, parts)
        return next((file for file in files if file.mode.session is self.session), None)

    def seen(self, parts: Parts) -> paramiko.SFTPAttributes | None:
        """Return the attributes of the login's unfinished upload to a path, from any session, or None."""
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
        """Delete the login's unfinished upload to a path. Return whether there was an upload."""
        mine = self.open_file(parts)
        if mine:
            mine.discard()
        return cut_uploads.drop(self.login, parts) or mine is not None


def _cut_short(shown: paramiko.SFTPAttributes, size: int) -> paramiko.SFTPAttributes:
    shown.st_size = size
    return shown
