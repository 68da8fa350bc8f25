"""The generator of the asynchronous Python client, which is a rewritten copy of the synchronous modules."""

from __future__ import annotations

import re
from pathlib import Path

TWINS = ("transport", "operations", "client")
"""The modules with an asynchronous copy (a twin), such as `async_transport`."""

CLASSES = r"\b(Transport|SupplierOperations|RetailerOperations|_Feed|Supplier|Retailer)\b"
WORDS = (
    (r"\bhttpx\.Client\b", "httpx.AsyncClient"),
    (r"\bhttpx\.BaseTransport\b", "httpx.AsyncBaseTransport"),
    (r"\bimport threading\nimport time\n", "import asyncio\nfrom contextvars import ContextVar\n"),
    (r"\btime\.sleep\b", "asyncio.sleep"),
    (r"Callable\[\[float\], None\]", "Callable[[float], Awaitable[None]]"),
    (r"import Callable, Iterator\b", "import AsyncIterator, Awaitable, Callable"),
    (r"\bIterator\b", "AsyncIterator"),
    (r"\b__(enter|exit)__\b", r"__a\1__"),
    (r"\bself\._http\.close\(", "await self._http.aclose("),
    (r"(?<=[\s=(])self\.(_http\.request|_send|call|sleep|get_import|close)\(", r"await self.\1("),
    (r"(?m)^(\s+)for (event|each) in (self\.pages\()", r"\1async for \2 in \3"),
    (r"(?m)^( +)yield from (.+)$", r"\1for each in \2:\n\1    yield each"),
    (r"from exchange_client\.(transport|operations) import", r"from exchange_client.async_\1 import"),
    (r"in this thread", "in this task"),
    (r"threading\.local\(\)", 'ContextVar[str | None]("etag", default=None)'),
    (r'etag: str \| None = getattr\(self\._last, "etag", None\)\n\s+return etag', "return self._last.get()"),
    (r'self\._last\.etag = (response\.headers\.get\("ETag"\))', r"self._last.set(\1)"),
)


def write_twins(folder: Path) -> None:
    """Write the asynchronous modules into the folder of the synchronous modules."""
    for name in TWINS:
        text = asynchronous((folder / f"{name}.py").read_text(encoding="utf-8"))
        (folder / f"async_{name}.py").write_text(text, encoding="utf-8")


def asynchronous(text: str) -> str:
    """Return the text of a synchronous module as an asynchronous module."""
    for pattern, word in WORDS:
        text = re.sub(pattern, word, text)
    text = re.sub(r"(?m)^( +)def (\w+)(\(.*(?:\n(?! +def ).*)*?-> .*:\n)", _function, text)
    return re.sub(rf"(?m)(?<![\w.`/]){CLASSES}", _class, text)


def _function(found: re.Match[str]) -> str:
    indent, name, rest = found.groups()
    is_plain = name in ("__init__", "last_etag") or (name.startswith("iter_") or name == "changed_orders")
    return f"{indent}{'' if is_plain else 'async '}def {name}{rest}"


def _class(found: re.Match[str]) -> str:
    name = found[1]
    return f"_Async{name[1:]}" if name.startswith("_") else f"Async{name}"
