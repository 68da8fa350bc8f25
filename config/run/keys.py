"""demo.json tells clients that everything answers: between two runs it lies under another name.

The old one is kept, since it alone holds the demo's secrets, which stay the same from run to run.
"""

from contextlib import suppress
from pathlib import Path


def hide_keys(data_dir: Path) -> None:
    """Put demo.json aside while the Exchange starts."""
    with suppress(FileNotFoundError):
        (data_dir / "demo.json").rename(_aside(data_dir))


def reveal_keys(data_dir: Path) -> None:
    """Put the old demo.json back, for the command that writes the new one."""
    with suppress(FileNotFoundError):
        if not (data_dir / "demo.json").exists():
            _aside(data_dir).rename(data_dir / "demo.json")


def _aside(data_dir: Path) -> Path:
    return data_dir / "demo.json.last"
