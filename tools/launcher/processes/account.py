"""The account that servers run under: our own, or an unprivileged one when we are root."""

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
        """The arguments of `subprocess` that run something under this account, with none of our groups."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def can_enter(self, folder: Path) -> bool:
        """Whether this account may enter the folder. It is tried, because ACLs count too."""
        enter = ["/bin/sh", "-c", 'cd -- "$1"', "sh", str(folder)]
        options = {"cwd": "/", "stderr": subprocess.DEVNULL, **self.popen_options()}
        return subprocess.run(enter, check=False, **options).returncode == 0

    def take_ownership(self, tree: Path) -> None:
        """Make this account the owner of a folder and all below it."""
        for path in (tree, *tree.rglob("*")):
            os.chown(path, self.uid, self.gid, follow_symlinks=False)


def unprivileged_account() -> Account | None:
    """The account to use when we are root (PostgreSQL refuses to run as root); None when we are not."""
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
    """The account that a file or folder belongs to."""
    status = path.stat()
    return Account(status.st_uid, status.st_gid)
