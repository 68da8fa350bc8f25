"""A limit of the extended attributes that paramiko reads, because paramiko trusts the count from the peer."""

from __future__ import annotations

import paramiko

LEAST_BYTES = 8  # the smallest extended attribute: the lengths of its name and its value


def bound_attributes() -> None:
    """Make paramiko read at most as many extended attributes as fit into the message."""
    paramiko.SFTPAttributes._unpack = _unpack


def _unpack(attributes: paramiko.SFTPAttributes, message: paramiko.Message) -> None:
    flags = attributes._flags = message.get_int()
    if flags & attributes.FLAG_SIZE:
        attributes.st_size = message.get_int64()
    if flags & attributes.FLAG_UIDGID:
        attributes.st_uid, attributes.st_gid = message.get_int(), message.get_int()
    if flags & attributes.FLAG_PERMISSIONS:
        attributes.st_mode = message.get_int()
    if flags & attributes.FLAG_AMTIME:
        attributes.st_atime, attributes.st_mtime = message.get_int(), message.get_int()
    if flags & attributes.FLAG_EXTENDED:
        count = message.get_int()
        for _ in range(min(count, len(message.get_remainder()) // LEAST_BYTES)):
            name = message.get_string()
            attributes.attr[name] = message.get_string()
