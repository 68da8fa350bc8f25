"""What can be asked of a part by its command line."""

from __future__ import annotations

import argparse


def read_options(
    part: str, arguments: list[str], *, only: bool = False, **numbers: int
) -> argparse.Namespace:
    """The numbers that a part takes, such as `--rows`, each with what it is where nobody gives it.

    With `only`, one of its operations can be named by a part of its name.
    """
    parser = argparse.ArgumentParser(
        prog=f"bench {part}", formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    for name, default in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=default, help=name)
    if only:
        parser.add_argument("--only", default="", help="one of the operations, by a part of its name")
    return parser.parse_args(arguments)
