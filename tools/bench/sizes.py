"""The sizes of the parts: full, or tiny under `--smoke`, where nothing is measured."""

from __future__ import annotations

import os
from typing import TypeVar

Size = TypeVar("Size")

SMOKE_VARIABLE = "BENCH_SMOKE"
SMOKE = bool(os.environ.get(SMOKE_VARIABLE))


def size(full: Size, *, smoke: Size) -> Size:
    return smoke if SMOKE else full
