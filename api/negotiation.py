"""Content negotiation: answers are JSON. A client whose Accept header excludes JSON gets 406 (contract 2)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rest_framework.exceptions import NotAcceptable
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

JSON_KIND = re.compile(r"application/[a-z0-9.!#$&^_-]+\+json")


def accepts(header: str, media_type: str) -> bool:
    """Tell whether an Accept header allows a media type. The most specific range decides."""
    kind = media_type.split("/")[0]
    weights = _weights(header)
    for name in (media_type, f"{kind}/*", "*/*"):
        if name in weights:
            return weights[name] > 0
    return not header.strip()


def accepts_coding(header: str, coding: str) -> bool:
    """Tell whether an Accept-Encoding header requests a coding. An empty header requests no coding."""
    weights = _weights(header)
    return weights.get(coding, weights.get("*", 0.0)) > 0


def _weights(header: str) -> dict[str, float]:
    """Return the values that a header lists, each with its weight `q`."""
    weights: dict[str, float] = {}
    for part in header.lower().split(","):
        name, *params = (text.strip() for text in part.split(";"))
        weights[name] = max(weights.get(name, 0.0), _quality(params))
    return weights


def _quality(params: list[str]) -> float:
    for param in params:
        if param.startswith("q="):
            try:
                return float(param[2:])
            except ValueError:
                return 1.0
    return 1.0


class OnlyAnswer(BaseContentNegotiation):
    """The content negotiation of an API with one renderer. JSON bodies may have several media types."""

    def select_parser(self, request: Request, parsers: Sequence[BaseParser]) -> BaseParser | None:  # type: ignore[override]
        content_type = (request.content_type or "application/json").split(";")[0].strip().lower()
        # `text/json` is an older name of JSON, from before RFC 4627. RFC 6839 defines the suffix `+json`.
        if content_type == "text/json" or JSON_KIND.fullmatch(content_type):
            content_type = "application/json"
        return next((parser for parser in parsers if parser.media_type == content_type), None)

    def select_renderer(  # type: ignore[override]
        self, request: Request, renderers: Sequence[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        renderer = renderers[0]
        assert renderer.media_type
        return renderer, renderer.media_type


def refuse_unacceptable(request: Request) -> None:
    """Raise 406 if the client does not accept JSON."""
    header = request.headers.get("Accept", "")
    if not accepts(header, "application/json"):
        raise NotAcceptable(
            f"Answers are application/json, but Accept: {header} rules that out. "
            "Send Accept: application/json, or leave the header out."
        )
