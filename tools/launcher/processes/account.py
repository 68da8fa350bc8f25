"""The account of the servers: the launcher's account, or an unprivileged account if the launcher is root."""

import os
import pwd
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.launcher.processes import CannotStart


@dataclass(frozen=True)
class Account:
    """A user of this machine, with the numeric ids of the user and of the user's group."""

    uid: int
    gid: int

    def popen_options(self) -> dict[str, Any]:
        """Return the arguments of `subprocess` for a program under this account, without other groups."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def can_enter(self, folder: Path) -> bool:
        """Return whether this account may enter the folder. The mode is not enough: ACLs also count."""
        enter = ["/bin/sh", "-c", 'cd -- "$1"', "sh", str(folder)]
        options = {"cwd": "/", "stderr": subprocess.DEVNULL, **self.popen_options()}
        return subprocess.run(enter, check=False, **options).returncode == 0

    def take_ownership(self, tree: Path) -> None:
        """Make this account the owner of a folder and of all files and folders below it."""
        for path in (tree, *tree.rglob("*")):
            os.chown(path, self.uid, self.gid, follow_symlinks=False)


def unprivileged_account() -> Account | None:
    """Return another account if this process is root, because PostgreSQL refuses to run as root.

    Raises CannotStart if there is no such account.
    """
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(entry.pw_uid, entry.pw_gid)
    raise CannotStart("As root, PostgreSQL needs an account to run under: create the user `postgres`.")


def owner_of(path: Path) -> Account:
    """Return the account that owns a file or folder."""
    status = path.stat()
    return Account(status.st_uid, status.st_gid)
