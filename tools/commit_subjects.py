"""The check of the commit subjects since the last tag: `area: imperative`, at most 72 characters.

The program ends with status 1 and names each wrong subject. A folder without git, such as an unpacked
archive, passes.
"""

from __future__ import annotations

import re
import subprocess
import sys

LONGEST = 72
SUBJECT = re.compile(r"[a-z][a-z0-9_, /-]*: \S.*[^.]")
# Without a tag, check the commits after this commit, which introduced the rule. All tags are newer.
RULE_BEGINS = "c0676c5"


def git(*arguments: str) -> str | None:
    """Return the output of a git command, or None if git or the requested object is missing."""
    try:
        done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)  # noqa: S603, S607
    except FileNotFoundError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def subjects() -> list[str]:
    """Return the subjects to check, without merges. A shallow clone has fewer commits."""
    start = git("describe", "--tags", "--abbrev=0") or git("rev-parse", "--verify", "--quiet", RULE_BEGINS)
    listed = git("log", "--no-merges", "--format=%s", f"{start}..HEAD" if start else "HEAD")
    return (listed or "").splitlines()


def fault_of(subject: str) -> str | None:
    """Return the fault of a subject, or None if it is correct."""
    if len(subject) > LONGEST:
        return f"{len(subject)} characters, at most {LONGEST}"
    if not SUBJECT.fullmatch(subject):
        return "write `area: imperative`, without a period at the end"
    return None


def main() -> None:
    faults = [f"{subject}\n    {fault}" for subject in subjects() if (fault := fault_of(subject))]
    if faults:
        sys.exit("Change these commit subjects:\n" + "\n".join(faults))


if __name__ == "__main__":
    main()
