"""The sizes of the benchmark's parts: full sizes, or tiny sizes with `--smoke`, which measures nothing."""

from __future__ import annotations

import os
from typing import TypeVar

Size = TypeVar("Size")

SMOKE_VARIABLE = "BENCH_SMOKE"
SMOKE = bool(os.environ.get(SMOKE_VARIABLE))


def size(full: Size, *, smoke: Size) -> Size:
    return smoke if SMOKE else full
