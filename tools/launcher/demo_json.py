"""The name of demo.json, which shows clients whether the service is ready.

While the service starts, the file has another name. The file is kept between runs, because no other file has
the demo's secrets.
"""

from contextlib import suppress
from pathlib import Path


def hide_keys(data_dir: Path) -> None:
    """Rename demo.json while the Exchange starts."""
    with suppress(FileNotFoundError):
        (data_dir / "demo.json").rename(hidden_keys(data_dir))


def reveal_keys(data_dir: Path) -> None:
    """Give demo.json its name back when the Exchange is ready."""
    with suppress(FileNotFoundError):
        if not (data_dir / "demo.json").exists():
            hidden_keys(data_dir).rename(data_dir / "demo.json")


def hidden_keys(data_dir: Path) -> Path:
    """Return the name of demo.json while the Exchange starts."""
    return data_dir / "demo.json.last"
