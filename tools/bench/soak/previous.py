"""The code of an earlier version, in its own folder. The upgrade starts from this version's database."""

from __future__ import annotations

import ast
import subprocess
import sys
from contextlib import suppress
from itertools import product
from pathlib import Path

from tools.bench.soak import commands
from tools.bench.soak.commands import ROOT

LAST_RELEASE = "the last release"
MOST_TRIED = 5
"""The number of newest commits with a migration that are tried."""
BACK = (1, 8, 24)
"""The distances to the earlier commits that are tried. In the last commit before a migration, the models may
already differ from the older migrations."""


class UnusableVersion(Exception):
    """The error for a version whose database this code cannot upgrade. Its message has the reason."""


def unpack_last_release(home: Path) -> tuple[Path, str]:
    """Unpack the newest tag, or else a commit from before a migration.

    Return the folder and the version's name. Raises UnusableVersion if this clone has no such version.
    """
    with suppress(subprocess.CalledProcessError, UnusableVersion):
        return unpack(git("describe", "--tags", "--abbrev=0", "HEAD^"), home / "tag")
    newest = git("log", f"-{MOST_TRIED}", "--format=%H", "--", "*/migrations/*.py").splitlines()
    for commit, back in product(newest, BACK):
        with suppress(UnusableVersion):  # a shallow clone has no earlier commit
            folder, name = unpack(f"{commit}~{back}", home / f"{commit}-{back}")
            if is_consistent(folder):
                return folder, name
    raise UnusableVersion(
        "This clone has no version from before a migration. If it is shallow, run git fetch --unshallow."
    )


def unpack(version: str, folder: Path) -> tuple[Path, str]:
    """Unpack a version into a new folder; return the folder and the version's name."""
    commit = commit_of(version)
    require_fewer_migrations(version, commit)
    folder.mkdir()
    packed = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, stdout=subprocess.PIPE)
    subprocess.run(["tar", "-x", "-C", str(folder)], input=packed.stdout, check=True)
    if not commands.parts_of(folder):
        raise UnusableVersion(f"Version {version} has no deploy/systemd, which has the commands to start it.")
    return folder, git("log", "-1", "--format=%h (%s)", commit)


def commit_of(version: str) -> str:
    """Return the commit of a version. Raises UnusableVersion if this clone does not have it."""
    try:
        return git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{version}^{{commit}}")
    except subprocess.CalledProcessError:
        raise UnusableVersion(
            f"This clone has no version {version}. If it is shallow, run git fetch --unshallow."
        ) from None


def require_fewer_migrations(version: str, commit: str) -> None:
    """Refuse a version that is not older than this code: an upgrade adds migrations and removes none."""
    files = git("ls-tree", "-r", "--name-only", commit).splitlines()
    theirs = {name for name in files if is_migration(Path(name))}
    ours = {str(path.relative_to(ROOT)): replaced_by(path) for path in ROOT.glob("*/migrations/*.py")}
    unknown = theirs - ours.keys() - set().union(*ours.values())
    if unknown:
        raise UnusableVersion(
            f"Version {version} has a migration that this code lacks: {min(unknown)}."
            " Give an earlier version."
        )
    if any(replaced & theirs and not replaced <= theirs for replaced in ours.values()):
        raise UnusableVersion(
            f"Version {version} has only some of the migrations that one migration of this code replaces."
            " Give a later version."
        )
    if all(name in theirs or (replaced and replaced <= theirs) for name, replaced in ours.items()):
        raise UnusableVersion(
            f"Version {version} has all migrations of this code, so nothing is upgraded."
            " Give an earlier version."
        )


def is_migration(path: Path) -> bool:
    return path.parent.name == "migrations" and path.suffix == ".py"


def replaced_by(migration: Path) -> set[str]:
    """Return the migration files that a squashed migration replaces; empty for any other migration."""
    for node in ast.walk(ast.parse(migration.read_text())):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "replaces":
            return {f"{app}/migrations/{name}.py" for app, name in ast.literal_eval(node.value)}
    return set()


def is_consistent(folder: Path) -> bool:
    """Return whether the migrations in a folder match its models. Some commits lack a migration."""
    command = [sys.executable, "manage.py", "makemigrations", "--check", "--dry-run"]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode == 0


def git(*arguments: str) -> str:
    """Return the output of a git command."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, check=True, text=True, capture_output=True)
    return done.stdout.strip()
