"""The project's guides and error pages, shown by the service itself at /v3/docs/<page>.

They are Markdown. A link can lead to each heading: `/v3/docs/errors#busy`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

from api.docs import POLICY
from api.errors import only_read

FOLDER = Path(settings.BASE_DIR) / "docs"
PAGES = {"api-guide": FOLDER / "api-guide.md", "errors": FOLDER / "errors.md"}
PAGES |= {path.stem: path for path in sorted(FOLDER.glob("guides/*.md"))}

# No HTML: the pages are the project's own, but a guide may quote markup of others.
MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")


@only_read
def page(request: HttpRequest, name: str) -> HttpResponse:
    """Show a document for people."""
    if name not in PAGES:
        raise Http404
    title, body = rendered(name)
    response = render(request, "page.html", {"title": title, "body": body, "pages": titles()})
    response["Content-Security-Policy"] = POLICY
    return response


@functools.cache
def titles() -> dict[str, str]:
    return {name: rendered(name)[0] for name in PAGES}


@functools.cache
def rendered(name: str) -> tuple[str, SafeString]:
    """Return the title of a page and its HTML."""
    text = PAGES[name].read_text(encoding="utf-8")
    title = text.partition("\n")[0].lstrip("# ")
    tokens = MARKDOWN.parse(text)
    _add_anchors(tokens)
    for token in tokens:
        token.children = [*_linked(token.children or ())]
    html = MARKDOWN.renderer.render(tokens, MARKDOWN.options, {})
    return title, mark_safe(html)  # noqa: S308 - the renderer escapes the text


def _add_anchors(tokens: Sequence[Token]) -> None:
    for opening, content in zip(tokens, tokens[1:], strict=False):
        if opening.type == "heading_open":
            opening.attrSet("id", anchor(content.content.replace("`", "")))


def anchor(heading: str) -> str:
    """Return the anchor of a heading, as GitHub builds it."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def _linked(tokens: Sequence[Token]) -> Iterator[Token]:
    """Point links at the running service. A link to a file that only the source has becomes plain text."""
    is_dropped = False
    for token in tokens:
        if token.type == "link_open":
            link = str(token.attrGet("href") or "")
            is_dropped = link.startswith("../") and Path(link.partition("#")[0]).stem not in PAGES
            token.attrSet("href", target(link))
        if not (is_dropped and token.type in ("link_open", "link_close")):
            yield token


def target(link: str) -> str:
    """Return the address, on the running service, of a link between documents."""
    path, _, fragment = link.partition("#")
    name = Path(path).stem
    address = f"/v3/docs/{name}" if path.endswith(".md") and name in PAGES else path
    return f"{address}#{fragment}" if fragment else address
