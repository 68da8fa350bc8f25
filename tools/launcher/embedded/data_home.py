"""The folder of the servers' data: in DATA_DIR, or outside if the servers' account cannot enter DATA_DIR."""

import os
import shutil
import tempfile
from pathlib import Path

from tools.launcher.embedded.binaries import Programs
from tools.launcher.processes import CannotStart
from tools.launcher.processes.account import Account


def persistent_home(data_dir: Path, account: Account | None) -> Path:
    """Return the same folder on every run. `DATA_DIR/embedded-home` has the path of an outside folder."""
    note, inside = data_dir / "embedded-home", data_dir / "embedded"
    if note.exists() and (elsewhere := Path(note.read_text().strip())).is_dir():
        return elsewhere
    data_dir.mkdir(parents=True, exist_ok=True)
    if account is None or account.can_enter(data_dir):
        inside.mkdir(mode=0o711 if account else 0o700, exist_ok=True)
        return inside
    elsewhere = temporary_home(account, keep=True)
    if inside.exists():  # the account could enter DATA_DIR at the last run, so move the data
        _move_all(inside, elsewhere, account)
    note.write_text(f"{elsewhere}\n")
    return elsewhere


def temporary_home(account: Account | None, *, keep: bool = False) -> Path:
    """Make a private folder that the servers' account may enter. `keep` makes the folder survive a reboot."""
    if account is None:
        return Path(tempfile.mkdtemp(prefix="exchange-"))
    temporary = tempfile.gettempdir()
    for parent in ("/var/lib", temporary) if keep else (temporary, "/tmp", "/var/lib"):  # noqa: S108
        if os.access(parent, os.W_OK) and account.can_enter(Path(parent)):
            home = Path(tempfile.mkdtemp(prefix="exchange-", dir=parent))
            home.chmod(0o711)
            return home
    raise CannotStart(
        "The servers' account cannot enter any temporary folder. Set TMPDIR to a folder that it can enter."
    )


def accessible_folder(found: Programs, home: Path, account: Account | None) -> Path:
    """Return the programs' folder, or a copy below `home` if the servers' account cannot enter the folder."""
    if account is None or account.can_enter(found.folder):
        return found.folder
    if found.package is None:
        raise CannotStart(f"The servers' account cannot enter {found.folder}: install them elsewhere.")
    copy = home / "programs" / f"{found.package.name}-{found.package.stat().st_mtime_ns}"
    if not copy.exists():
        half = copy.with_name(f"{copy.name}.half")
        shutil.rmtree(half, ignore_errors=True)
        for tree in (found.package, found.package.with_name(f"{found.package.name}.libs")):
            if tree.exists():  # the programs look for a wheel's libraries beside its package
                shutil.copytree(tree, half / tree.name, symlinks=True)
        half.rename(copy)
    return copy / found.folder.relative_to(found.package.parent)


def _move_all(source: Path, target: Path, account: Account) -> None:
    for entry in source.iterdir():
        shutil.move(entry, target / entry.name)
    if (target / "postgres").exists():  # a move between file systems changes the owner
        account.take_ownership(target / "postgres")
