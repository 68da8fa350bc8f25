"""demo.json says to clients that the service is up: while it is not, the file has another name.

It is kept from run to run, for it alone holds the demo's secrets, which do not change.
"""

from contextlib import suppress
from pathlib import Path


def hide_keys(data_dir: Path) -> None:
    """Rename demo.json while the Exchange starts."""
    with suppress(FileNotFoundError):
        (data_dir / "demo.json").rename(_hidden(data_dir))


def reveal_keys(data_dir: Path) -> None:
    """Restore the name for the command that writes the new file."""
    with suppress(FileNotFoundError):
        if not (data_dir / "demo.json").exists():
            _hidden(data_dir).rename(data_dir / "demo.json")


def _hidden(data_dir: Path) -> Path:
    return data_dir / "demo.json.last"
