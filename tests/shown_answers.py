"""Compare the answers that a document shows with the answers of the service.

A shown answer is JSON in which `…` replaces other fields of an object, other elements of an array, or any
text in a string. The comparison ignores the digits in strings and the values of numbers, because ids and
times differ in each run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

MORE = "…"
TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|[\[\]{}]|…')


def documents(text: str) -> list[Any]:
    """Return the JSON documents that a text contains one after another."""
    decoder, found, rest = json.JSONDecoder(), [], text.strip()
    while rest:
        document, end = decoder.raw_decode(rest)
        found.append(document)
        rest = rest[end:].lstrip()
    return found


def shown_documents(text: str) -> list[Any]:
    """Return the JSON documents of a code block in which `…` may replace content."""
    brackets: list[str] = []

    def as_json(found: re.Match[str]) -> str:
        token = found[0]
        if token in "[{":
            brackets.append(token)
        elif token in "]}":
            brackets.pop()
        elif token == MORE:
            return f'"{MORE}": null' if brackets[-1] == "{" else f'"{MORE}"'
        return token

    return documents(TOKEN.sub(as_json, text))


def differences(shown: Any, answered: Any, at: str = "answer") -> Iterator[str]:
    """Yield each difference between a shown answer and the answer of the service."""
    if isinstance(shown, dict) and isinstance(answered, dict):
        yield from _of_objects(shown, answered, at)
    elif isinstance(shown, list) and isinstance(answered, list):
        yield from _of_arrays(shown, answered, at)
    elif isinstance(shown, str) and isinstance(answered, str):
        if not re.fullmatch(pattern(shown), alike(answered), re.DOTALL):
            yield f"{at} is {answered!r}, not {shown!r}"
    elif not (_is_number(shown) and _is_number(answered)) and shown is not answered:
        yield f"{at} is {answered!r}, not {shown!r}"


def differences_of_text(shown: str, answered: str) -> Iterator[str]:
    """Yield the difference between a shown output and the output of a command."""
    if not re.fullmatch(pattern(shown.strip()), alike(answered.strip()), re.DOTALL):
        yield f"the output is {answered.strip()!r}, not {shown.strip()!r}"


def _of_objects(shown: dict[str, Any], answered: dict[str, Any], at: str) -> Iterator[str]:
    names = shown.keys() - {MORE}
    for name in sorted(names - answered.keys()):
        yield f"{at}.{name} does not exist"
    if MORE not in shown:
        for name in sorted(answered.keys() - names):
            yield f"{at}.{name} is missing in the document"
    for name in sorted(names & answered.keys()):
        yield from differences(shown[name], answered[name], f"{at}.{name}")


def _of_arrays(shown: list[Any], answered: list[Any], at: str) -> Iterator[str]:
    elements = shown[: shown.index(MORE)] if MORE in shown else shown
    if len(answered) < len(elements) or (MORE not in shown and len(answered) > len(elements)):
        yield f"{at} has {len(answered)} elements, not {len(elements)}"
    for index, (element, other) in enumerate(zip(elements, answered, strict=False)):
        yield from differences(element, other, f"{at}[{index}]")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def alike(text: str) -> str:
    """Replace the parts of a text that differ in each run: numbers, and the name of the host."""
    return re.sub(r"\d+", "0", text.replace("localhost", "127.0.0.1"))


def pattern(shown: str) -> str:
    return ".*".join(re.escape(part) for part in alike(shown).split(MORE))
