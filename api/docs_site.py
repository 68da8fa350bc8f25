"""The documentation site under /docs/: the pages that `make docs` built (docs/adr/0027).

The code samples of a page contain this service's URL. Without a built site, the Markdown of a page is shown.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import mimetypes
import re
from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.utils.cache import get_conditional_response

from api.docs import POLICY
from api.errors import only_read

ORIGIN_OF_SAMPLES = b"http://127.0.0.1:8000"
SOURCES = Path(settings.BASE_DIR) / "docs"
# The digest of the inline style of Zensical's search. All pages have this style; a browser test fails
# if the style changes.
SEARCH_STYLE = "'sha256-NwSx/R2V/U4jnW0Tq5pQ53Y/rzPVJ4dqE7D6UTA/J1k='"
INLINE_SCRIPT = re.compile(rb"<script>(.*?)</script>", re.DOTALL)
HASHED = re.compile(r"\.[0-9a-f]{8}\.min\.(js|css)$")
WITH_ADDRESSES = (".html", ".json", ".xml")
OLD_NAMES = {path.stem: f"guides/{path.stem}" for path in SOURCES.glob("guides/*.md")}


@only_read
def page(request: HttpRequest, path: str = "") -> HttpResponse:
    """Return a page of the site, or another file of the site, such as an image."""
    file = _file(path)
    if file is None:
        return _source(path)
    if file.name == "index.html" and path and not path.endswith("/"):
        return HttpResponsePermanentRedirect(f"{request.path}/")
    body = file.read_bytes()
    if file.suffix in WITH_ADDRESSES:
        body = body.replace(ORIGIN_OF_SAMPLES, request.build_absolute_uri("/")[:-1].encode())
    response = HttpResponse(body, content_type=mimetypes.guess_type(file.name)[0] or "text/plain")
    if file.suffix == ".html":
        response["Content-Security-Policy"] = policy(body)
    kept = "max-age=31536000, immutable" if HASHED.search(file.name) else "no-cache"
    response["Cache-Control"] = f"public, {kept}"
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    response["ETag"] = tag
    unchanged = get_conditional_response(request, etag=tag, response=response)
    return unchanged or response


@only_read
def moved(request: HttpRequest, name: str) -> HttpResponse:
    """Redirect to a page from its URL in an earlier release or from the URL in an error's `docs`."""
    return HttpResponsePermanentRedirect(f"/docs/{OLD_NAMES.get(name, name)}/")


def policy(html: bytes) -> str:
    """Return the Content-Security-Policy of a page, with the digests of the page's own inline scripts."""
    digests = " ".join(f"'sha256-{_digest(script)}'" for script in INLINE_SCRIPT.findall(html))
    allowed = POLICY.replace("script-src 'self'", f"script-src 'self' {digests}".rstrip())
    return allowed.replace("style-src 'self'", f"style-src 'self' {SEARCH_STYLE}") + "; worker-src 'self'"


@functools.lru_cache(maxsize=64)
def _digest(script: bytes) -> str:
    return base64.b64encode(hashlib.sha256(script).digest()).decode()


def _file(path: str) -> Path | None:
    """Return the built file at a path of the site, or None. Files outside of the site are not returned."""
    found = _inside(settings.DOCS_SITE, path)
    if found is None:
        return None
    if found.is_dir():
        found /= "index.html"
    return found if found.is_file() else None


def _inside(folder: Path, path: str) -> Path | None:
    """Return the resolved path of an existing file or folder, or None if it is outside of `folder`."""
    try:
        found = (folder / path).resolve(strict=True)
    except (OSError, ValueError):  # a missing file, a name that is too long, or a null character
        return None
    return found if found.is_relative_to(folder.resolve()) else None


def _source(path: str) -> HttpResponse:
    """Show the Markdown of a page while the site is not built."""
    name = path.strip("/") or "index"
    found = _inside(SOURCES, f"{name}.md")
    if settings.DOCS_SITE.is_dir() or found is None or not found.is_file():
        raise Http404
    return HttpResponse(found.read_bytes(), content_type="text/plain; charset=utf-8")
