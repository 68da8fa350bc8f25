"""Files as clients see them listed, and the size of the area as they see that of a disk."""

from __future__ import annotations

import os
import stat

import paramiko

READABLE = 0o555
LATEST = 2**32 - 1  # what the protocol's times can say
BLOCK = 4096


def attributes(name: str, status: os.stat_result, *, read_only: bool = False) -> paramiko.SFTPAttributes:
    """Size, time and kind of a file or folder; nothing of this machine's users and modes."""
    shown = paramiko.SFTPAttributes.from_stat(status, name)
    folder = stat.S_ISDIR(status.st_mode)
    mode = 0o755 if folder else 0o644
    shown.st_mode = stat.S_IFMT(status.st_mode) | (mode & READABLE if read_only else mode)
    shown.st_uid = shown.st_gid = 0
    shown.st_atime, shown.st_mtime = _time(status.st_atime), _time(status.st_mtime)
    return shown


def _time(seconds: float) -> int:
    return max(0, min(int(seconds), LATEST))


def disk(quota: int, used: int) -> list[int]:
    """What `statvfs@openssh.com` answers, eleven numbers: the quota as a disk that does not count files."""
    blocks, free = quota // BLOCK, max(0, quota - used) // BLOCK
    return [BLOCK, BLOCK, blocks, free, free, 0, 0, 0, 0, 0, 255]
