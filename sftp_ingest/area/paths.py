"""Paths inside an upload area, split into checked names. They are never used as paths on the disk."""

from __future__ import annotations

import unicodedata

from sftp_ingest.errors import Refused

Parts = tuple[str, ...]

TEMPLATES = "templates"
REPORTS = "reports"  # this folder is created with the first report
ORDERS = "orders"  # the files in this folder are generated when a client reads them
READ_ONLY = (TEMPLATES, REPORTS, ORDERS)
IMPORT_SUFFIXES = (".csv", ".tsv", ".txt", ".xlsx", ".csv.gz", ".zip")
MAX_PATH_LENGTH, MAX_NAME_BYTES, MAX_DEPTH = 500, 255, 20
# This limit is checked before the Unicode normalization, which takes hours for a megabyte of accents.
MAX_LENGTH_AS_WRITTEN = 4 * MAX_PATH_LENGTH
TOO_LONG = f"The path is longer than {MAX_PATH_LENGTH} characters or {MAX_DEPTH} folders."
# The Unicode categories of control and format characters (with bidi overrides), line separators, surrogates.
UNPRINTABLE = {"Cc", "Cf", "Cs", "Zl", "Zp"}


_imported_as: dict[str, str] = {}


def add_import_folder(folder: str, kind: str) -> None:
    """Add a folder whose files are imported as this kind. `imports.kinds` calls this function."""
    _imported_as[folder] = kind


def standing_folders() -> tuple[str, ...]:
    """Return the folders that every area has and no supplier can change."""
    return (*_imported_as, TEMPLATES)


def parse_path(path: str, *, allow_parent: bool = False) -> Parts:
    """Split a path into names. The path starts at the area's root, with or without a leading `/`.

    Raises Refused for an invalid name, a too long path, or the name `..`. With `allow_parent`, `..` leads to
    the parent folder, but never above the root.
    """
    parts: list[str] = []
    if len(path) > MAX_LENGTH_AS_WRITTEN:
        raise Refused(TOO_LONG)
    for name in unicodedata.normalize("NFC", path).split("/"):
        if name == ".." and not allow_parent:
            raise Refused("The path must not contain `..`.")
        if name == "..":
            parts = parts[:-1]
        elif name not in ("", "."):
            parts.append(check_name(name))
    if not fits(tuple(parts)):
        raise Refused(TOO_LONG)
    return tuple(parts)


def fits(parts: Parts) -> bool:
    """Tell whether a path is within the limits of length and depth."""
    return len(parts) <= MAX_DEPTH and len(join_path(parts)) <= MAX_PATH_LENGTH


def check_name(name: str) -> str:
    """Return the name if it is allowed for a file in an area. Raises Refused."""
    if any(unicodedata.category(character) in UNPRINTABLE for character in name):
        raise Refused(f"The name {name!a} contains an invisible character. Remove it.")
    if "\\" in name or name != name.strip():
        raise Refused(f"The name {name!r} contains a backslash, or begins or ends with a blank. Rename it.")
    if len(name.encode()) > MAX_NAME_BYTES:
        raise Refused(f"The name {name[:20]!r}… is longer than {MAX_NAME_BYTES} bytes. Shorten it.")
    return name


def join_path(parts: Parts) -> str:
    return "/".join(parts)


def import_kind_of(path: str) -> str | None:
    """Return the kind of import that reads files at this path, such as `products`, or None."""
    top, _, rest = path.partition("/")
    return _imported_as.get(top) if rest.lower().endswith(IMPORT_SUFFIXES) else None
