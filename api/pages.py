"""Documents that the service shows itself, at /v3/docs/<page>: what an error means, guides by task.

They are Markdown, of which headings, paragraphs, lists, tables, code and links are read. Every heading can be
linked to: `/v3/docs/errors#busy`.
"""

from __future__ import annotations

import functools
import html
import re
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString, mark_safe

from api.docs import POLICY
from api.errors import only_read

FOLDER = Path(settings.BASE_DIR) / "docs"
PAGES = {"api-guide": FOLDER / "api-guide.md", "errors": FOLDER / "errors.md"}
PAGES |= {path.stem: path for path in sorted(FOLDER.glob("guides/*.md"))}

BLOCK = re.compile(r"^ *```.*?^ *```$|[^\n]+(?:\n(?! *```|\n)[^\n]+)*", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")


@only_read
def page(request: HttpRequest, name: str) -> HttpResponse:
    """A document for people."""
    if name not in PAGES:
        raise Http404
    title, body = written(name)
    response = render(request, "page.html", {"title": title, "body": body, "pages": titles()})
    response["Content-Security-Policy"] = POLICY
    return response


@functools.cache
def titles() -> dict[str, str]:
    return {name: written(name)[0] for name in PAGES}


@functools.cache
def written(name: str) -> tuple[str, SafeString]:
    """A page's title and its HTML; its text is the project's own, and escaped all the same."""
    text = PAGES[name].read_text(encoding="utf-8")
    title = text.partition("\n")[0].lstrip("# ")
    return title, mark_safe("\n".join(blocks(text)))  # noqa: S308 - every piece of it is escaped


def blocks(text: str) -> Iterator[str]:
    for block in BLOCK.findall(text):
        lines = block.strip().split("\n")
        if lines[0].startswith("```"):
            yield f"<pre><code>{html.escape(chr(10).join(lines[1:-1]))}</code></pre>"
        elif heading := re.match(r"(#+) (.*)", lines[0]):
            level, words = len(heading[1]), heading[2]
            yield f'<h{level} id="{anchor(words)}">{inline(words)}</h{level}>'
        elif lines[0].startswith("|"):
            yield table(lines)
        elif re.match(r"(\d+\.|-) ", lines[0]):
            items = re.split(r"\n?^(?:\d+\.|-) ", "\n".join(lines), flags=re.MULTILINE)[1:]
            shown = "".join(f"<li>{inline(each)}</li>" for each in items)
            yield f"<ol>{shown}</ol>" if lines[0][0].isdigit() else f"<ul>{shown}</ul>"
        else:
            yield f"<p>{inline(' '.join(lines))}</p>"


def table(lines: list[str]) -> str:
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
    shown = [
        "<tr>" + "".join(f"<{tag}>{inline(cell)}</{tag}>" for cell in row) + "</tr>"
        for tag, row in zip(["th", *["td"] * len(rows)], [rows[0], *rows[2:]], strict=False)
    ]
    return f"<table>{''.join(shown)}</table>"


def anchor(words: str) -> str:
    """As GitHub makes them of headings."""
    return re.sub(r"[^\w -]", "", words.lower()).replace(" ", "-")


def inline(text: str) -> str:
    """Code, bold and links; what stands in code is left as it is."""
    shown = []
    for place, part in enumerate(text.split("`")):
        safe = html.escape(part)
        if place % 2:
            shown.append(f"<code>{safe}</code>")
        else:
            safe = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", safe)
            shown.append(LINK.sub(lambda found: linked(found[1], found[2]), safe))
    return "".join(shown)


def linked(words: str, link: str) -> str:
    """A link; the words alone where it leads to a file that only the source has."""
    if link.startswith("../") and Path(link.partition("#")[0]).stem not in PAGES:
        return words
    return f'<a href="{target(link)}">{words}</a>'


def target(link: str) -> str:
    """Where a link between documents leads on the running service."""
    path, _, place = link.partition("#")
    name = Path(path).stem
    known = f"/v3/docs/{name}" if path.endswith(".md") and name in PAGES else path
    return f"{known}#{place}" if place else known
