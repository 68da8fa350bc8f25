"""What a login sees of its own unfinished uploads: those under way, and those that were cut (contract 13)."""

from __future__ import annotations

import os

import paramiko

from sftp_ingest.area import cut_uploads
from sftp_ingest.area.files import Area
from sftp_ingest.area.incoming import IncomingFile, open_uploads
from sftp_ingest.area.paths import Parts
from sftp_ingest.area.quota import usage_counter
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
        try:
            if mine := self.open_file(parts):
                return attributes(name, os.stat(mine.temporary), size=mine.shown_size)
            for other in open_uploads.at(self.login, parts):
                if other.whole_to:
                    return attributes(name, os.stat(other.temporary), size=other.whole_to)
        except FileNotFoundError:  # it ended just now
            return None
        status = cut_uploads.find(self.login, parts)
        return attributes(name, status) if status else None

    def forget(self, parts: Parts) -> bool:
        """Drop what is unfinished at that path, if no other session is at it; whether there was any."""
        mine = self.open_file(parts)
        if mine:
            mine.discard()
        freed = cut_uploads.drop(self.login, parts)
        if freed:
            usage_counter.subtract(Area(self.login.supplier_id), freed)
        return mine is not None or freed is not None
