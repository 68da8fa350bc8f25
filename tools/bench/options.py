"""The command-line options of a part of the benchmark."""

from __future__ import annotations

import argparse


def read_options(
    part: str, arguments: list[str], *, only: bool = False, **numbers: int
) -> argparse.Namespace:
    """Read the command line of a part. Each keyword is an option for a number, with its default.

    With `only`, `--only push` selects the operations that have *push* in their name.
    """
    parser = argparse.ArgumentParser(
        prog=f"bench {part}", formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    for name, default in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=default, help=name)
    if only:
        parser.add_argument("--only", default="", help="run the operations that have this text in their name")
    return parser.parse_args(arguments)
