"""The OpenSSH extensions of SFTP that common clients use."""

from __future__ import annotations

from collections.abc import Callable

import paramiko
from paramiko import sftp as protocol

from sftp_ingest.server.commands import OK, AreaCommands
from sftp_ingest.server.handles import MAX_READ, ReadHandle, UploadHandle
from sftp_ingest.server.made_commands import MadeHandle

# Clients write chunks of 32 KB unless the server announces larger chunks. The other fields of a packet need
# some bytes, so MAX_WRITE is smaller than MAX_PACKET.
MAX_PACKET = 256 * 1024
MAX_WRITE = MAX_PACKET - 1024

Handle = ReadHandle | UploadHandle | MadeHandle
Reply = int | list[int]  # a status, or the 64-bit numbers of an answer
Handles = Callable[[bytes], Handle]


def posix_rename(commands: AreaCommands, handles: Handles, message: paramiko.Message) -> Reply:
    old, new = message.get_text(), message.get_text()
    return commands.posix_rename(old, new)


def statvfs(commands: AreaCommands, handles: Handles, message: paramiko.Message) -> Reply:
    return commands.statvfs(message.get_text())


def fstatvfs(commands: AreaCommands, handles: Handles, message: paramiko.Message) -> Reply:
    handles(message.get_binary())
    return commands.statvfs("/")


def fsync(commands: AreaCommands, handles: Handles, message: paramiko.Message) -> Reply:
    handles(message.get_binary()).sync()
    return OK


def lsetstat(commands: AreaCommands, handles: Handles, message: paramiko.Message) -> Reply:
    path = message.get_text()
    return commands.chattr(path, paramiko.SFTPAttributes._from_msg(message))


def limits(commands: AreaCommands, handles: Handles, message: paramiko.Message) -> Reply:
    return [MAX_PACKET, min(MAX_READ, MAX_WRITE), MAX_WRITE, commands.session.limits.handles]


# The extensions by name: the version that clients expect, and the function that answers.
EXTENSIONS: dict[str, tuple[str, Callable[[AreaCommands, Handles, paramiko.Message], Reply]]] = {
    "posix-rename@openssh.com": ("1", posix_rename),
    "statvfs@openssh.com": ("2", statvfs),
    "fstatvfs@openssh.com": ("2", fstatvfs),
    "fsync@openssh.com": ("1", fsync),
    "lsetstat@openssh.com": ("1", lsetstat),
    "limits@openssh.com": ("1", limits),
}


def greeting() -> paramiko.Message:
    """Build the server's first packet with its version and extensions."""
    hello = paramiko.Message()
    hello.add_int(protocol._VERSION)
    for name, (version, _) in EXTENSIONS.items():
        hello.add_string(name)
        hello.add_string(version)
    return hello
