"""Examples of bodies from `docs/examples`. `tests/contract/test_examples.py` sends each of them."""

from __future__ import annotations

import functools
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.conf import settings

FOLDER = Path(settings.BASE_DIR) / "docs" / "examples"


@functools.cache
def example_of(operation_id: str) -> dict[str, object]:
    """Return the `request` and `answer` of an operation's example, or an empty object."""
    path = FOLDER / f"{operation_id}.json"
    if not path.exists():
        return {}
    example: dict[str, object] = json.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
    return example


def add_examples(operation: dict[str, Any]) -> None:
    """Add the examples of an operation to the schemas of its bodies."""
    example = example_of(operation["operationId"])
    if "request" in example and "requestBody" in operation:
        for media in operation["requestBody"]["content"].values():
            media["example"] = example["request"]
    if "answer" in example:
        media = operation["responses"][str(example["status"])]["content"]["application/json"]
        media["example"] = example["answer"]
