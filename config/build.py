"""The version and the commit of this code."""

from __future__ import annotations

import functools
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent


def _line_in(path: Path, beginning: str) -> str:
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return ""
    return next((line[len(beginning) :].rstrip('"') for line in lines if line.startswith(beginning)), "")


VERSION = _line_in(_ROOT / "pyproject.toml", 'version = "')
"""The version of the service, its schema and its clients, such as 1.0.0."""


@functools.cache
def commit() -> str:
    """Return the first 12 digits of the commit's hash, or an empty string if the commit is unknown.

    The commit is read from .git, or from the file COMMIT of an installation without git.
    """
    head = _line_in(_ROOT / ".git/HEAD", "")
    if head.startswith("ref: "):
        head = _commit_of(_ROOT / ".git", head.removeprefix("ref: "))
    return (head or _line_in(_ROOT / "COMMIT", ""))[:12]


def _commit_of(git: Path, ref: str) -> str:
    """Return the commit of a branch from the branch's file or, after `git gc`, from the file packed-refs."""
    commit = _line_in(git / ref, "")
    if commit:
        return commit
    try:
        packed = (git / "packed-refs").read_text().splitlines()
    except OSError:
        return ""
    return next((line.split(" ")[0] for line in packed if line.endswith(f" {ref}")), "")
