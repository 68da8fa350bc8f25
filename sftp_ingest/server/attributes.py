"""Files as clients see them listed."""

from __future__ import annotations

import os
import stat

import paramiko

READABLE = 0o555


def attributes(name: str, status: os.stat_result, *, read_only: bool = False) -> paramiko.SFTPAttributes:
    """Size, time and kind of a file or folder; nothing of this machine's users and modes."""
    shown = paramiko.SFTPAttributes.from_stat(status, name)
    folder = stat.S_ISDIR(status.st_mode)
    mode = 0o755 if folder else 0o644
    shown.st_mode = stat.S_IFMT(status.st_mode) | (mode & READABLE if read_only else mode)
    shown.st_uid = shown.st_gid = 0
    return shown
