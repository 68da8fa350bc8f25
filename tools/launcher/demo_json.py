"""demo.json tells clients that the service is up. While the service is down, the file has another name.

The file is kept between runs, because the demo's secrets do not change and are stored nowhere else.
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
