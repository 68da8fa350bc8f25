"""Paths within an upload area: taken apart, each name judged, never joined back for the system."""

from __future__ import annotations

import unicodedata

from sftp_ingest.errors import Refused

Parts = tuple[str, ...]

PRODUCTS, INVENTORY, TEMPLATES = "products", "inventory", "templates"
REPORTS = "reports"  # there once there is something to report
SKELETON = (PRODUCTS, INVENTORY, TEMPLATES)
READ_ONLY = (TEMPLATES, REPORTS)
IMPORTED_SUFFIXES = (".csv", ".tsv", ".txt")
LONGEST_PATH, LONGEST_NAME, DEEPEST = 500, 255, 20
# Control and format characters (bidi overrides among them), separators of lines, halves of characters.
UNPRINTABLE = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def split(path: str, *, climb: bool = False) -> Parts:
    """The names along a path from the area's root; a leading `/` means that root.

    `..` is refused, or with `climb` taken as an SFTP client means it: one up, never above the root.
    Raises Refused for a name that no file here has.
    """
    parts: list[str] = []
    for name in unicodedata.normalize("NFC", path).split("/"):
        if name == ".." and not climb:
            raise Refused("The path may not hold `..`.")
        if name == "..":
            parts = parts[:-1]
        elif name not in ("", "."):
            parts.append(checked(name))
    if len(parts) > DEEPEST or len("/".join(parts)) > LONGEST_PATH:
        raise Refused(f"The path is longer than {LONGEST_PATH} characters or {DEEPEST} folders.")
    return tuple(parts)


def checked(name: str) -> str:
    """The name, if a file here may have it. Raises Refused."""
    if any(unicodedata.category(character) in UNPRINTABLE for character in name):
        raise Refused(f"The name {name!a} holds a character that cannot be seen.")
    if name.startswith("-") or "\\" in name or name != name.strip():
        raise Refused(f"The name {name!r} begins with a dash, holds a backslash, or has blanks at its ends.")
    if len(name.encode()) > LONGEST_NAME:
        raise Refused(f"The name {name[:20]!r}… is longer than {LONGEST_NAME} bytes.")
    return name


def joined(parts: Parts) -> str:
    return "/".join(parts)


def kind_of(path: str) -> str | None:
    """Which import a file put there is meant for, `products` or `inventory`; None for neither."""
    top, _, rest = path.partition("/")
    wanted = top in (PRODUCTS, INVENTORY) and rest.lower().endswith(IMPORTED_SUFFIXES)
    return top if wanted else None
