"""File attributes for clients, and the quota in the form of a disk's size."""

from __future__ import annotations

import os
import stat

import paramiko

READABLE = 0o555
LATEST = 2**32 - 1  # the last time that the protocol can express
BLOCK = 4096


def attributes(name: str, status: os.stat_result, *, read_only: bool = False) -> paramiko.SFTPAttributes:
    """Return the attributes of a file or folder for a client. Owner and group are 0, the mode is fixed."""
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
    """Return the eleven numbers of `statvfs@openssh.com`: the quota as a disk without a file limit."""
    blocks, free = quota // BLOCK, max(0, quota - used) // BLOCK
    return [BLOCK, BLOCK, blocks, free, free, 0, 0, 0, 0, 0, 255]
