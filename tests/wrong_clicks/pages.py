"""The links and forms of an HTML page."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser


@dataclass
class Form:
    """A form of a page: its target, its fields with their choices, and its buttons."""

    action: str
    method: str
    fields: list[tuple[str, str, list[str]]] = field(default_factory=list)
    buttons: list[dict[str, str]] = field(default_factory=list)


class Page(HTMLParser):
    """The links and forms of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.forms: dict[str, Form] = {}
        self._form = ""
        self._select: tuple[str, str, list[str]] | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "form":
            self._form = given.get("id") or f"form {len(self.forms)}"
            self.forms[self._form] = Form(given.get("action", ""), given.get("method", "get").lower())
        elif tag == "option" and self._select:
            self._select[2].append(given.get("value", ""))
        elif tag in ("input", "select", "textarea", "button"):
            self._add(tag, given)

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._form = ""
        elif tag == "select":
            self._select = None

    def _add(self, tag: str, given: dict[str, str]) -> None:
        form = self.forms.get(given.get("form", self._form))
        kind = given.get("type", "submit" if tag == "button" else "text") if tag != "select" else tag
        if form is None or kind in ("button", "reset"):
            return
        if kind == "submit":
            form.buttons.append(given)
        elif "name" in given:
            added = (given["name"], kind, [given["value"]] if "value" in given else [])
            form.fields.append(added)
            self._select = added if tag == "select" else self._select
