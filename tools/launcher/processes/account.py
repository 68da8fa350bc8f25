"""The account of the servers: our own account, or an unprivileged account if we are root."""

import os
import pwd
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.launcher.processes import CannotStart


@dataclass(frozen=True)
class Account:
    """A user of this machine, by number."""

    uid: int
    gid: int

    def popen_options(self) -> dict[str, Any]:
        """Return the arguments of `subprocess` for a program under this account, without our groups."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def can_enter(self, folder: Path) -> bool:
        """Return whether this account may enter the folder. Try it, because ACLs count, too."""
        enter = ["/bin/sh", "-c", 'cd -- "$1"', "sh", str(folder)]
        options = {"cwd": "/", "stderr": subprocess.DEVNULL, **self.popen_options()}
        return subprocess.run(enter, check=False, **options).returncode == 0

    def take_ownership(self, tree: Path) -> None:
        """Make this account the owner of a folder and everything below it."""
        for path in (tree, *tree.rglob("*")):
            os.chown(path, self.uid, self.gid, follow_symlinks=False)


def unprivileged_account() -> Account | None:
    """Return the account for servers if we are root, else None. PostgreSQL refuses to run as root."""
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
