"""Paths within an upload area: split into names that are checked, and never joined for the system."""

from __future__ import annotations

import unicodedata

from sftp_ingest.errors import Refused

Parts = tuple[str, ...]

PRODUCTS, INVENTORY, TEMPLATES = "products", "inventory", "templates"
REPORTS = "reports"  # there once there is something to report
ORDERS, TRACKING = "orders", "tracking"  # what is to be shipped, made as it is read; what was done about it
STANDING_FOLDERS = (PRODUCTS, INVENTORY, TRACKING, TEMPLATES)
IMPORTED_AS = {PRODUCTS: "products", INVENTORY: "inventory", TRACKING: "fulfillments"}
READ_ONLY = (TEMPLATES, REPORTS, ORDERS)
IMPORT_SUFFIXES = (".csv", ".tsv", ".txt")
MAX_PATH_LENGTH, MAX_NAME_BYTES, MAX_DEPTH = 500, 255, 20
# Before accents are put together with their letters, which takes hours for a megabyte of accents.
MAX_LENGTH_AS_WRITTEN = 4 * MAX_PATH_LENGTH
TOO_LONG = f"The path is longer than {MAX_PATH_LENGTH} characters or {MAX_DEPTH} folders."
# Control and format characters (bidi overrides among them), separators of lines, halves of characters.
UNPRINTABLE = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def parse_path(path: str, *, allow_parent: bool = False) -> Parts:
    """The names along a path from the area's root; a leading `/` means that root.

    `..` is refused, or with `allow_parent` taken as an SFTP client means it: one up, never above the root.
    Raises Refused for a name that a file in an area cannot have.
    """
    parts: list[str] = []
    if len(path) > MAX_LENGTH_AS_WRITTEN:
        raise Refused(TOO_LONG)
    for name in unicodedata.normalize("NFC", path).split("/"):
        if name == ".." and not allow_parent:
            raise Refused("The path may not hold `..`.")
        if name == "..":
            parts = parts[:-1]
        elif name not in ("", "."):
            parts.append(check_name(name))
    if not fits(tuple(parts)):
        raise Refused(TOO_LONG)
    return tuple(parts)


def fits(parts: Parts) -> bool:
    """Whether an area may have a path of that length and depth."""
    return len(parts) <= MAX_DEPTH and len(join_path(parts)) <= MAX_PATH_LENGTH


def check_name(name: str) -> str:
    """The name, if a file in an area may have it. Raises Refused."""
    if any(unicodedata.category(character) in UNPRINTABLE for character in name):
        raise Refused(f"The name {name!a} holds a character that cannot be seen.")
    if "\\" in name or name != name.strip():
        raise Refused(f"The name {name!r} holds a backslash, or has blanks at its ends.")
    if len(name.encode()) > MAX_NAME_BYTES:
        raise Refused(f"The name {name[:20]!r}… is longer than {MAX_NAME_BYTES} bytes.")
    return name


def join_path(parts: Parts) -> str:
    return "/".join(parts)


def kind_of(path: str) -> str | None:
    """Which import a file put there is meant for, such as `products`; None for none."""
    top, _, rest = path.partition("/")
    return IMPORTED_AS.get(top) if rest.lower().endswith(IMPORT_SUFFIXES) else None
