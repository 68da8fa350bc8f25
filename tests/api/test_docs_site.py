"""The site with the project's documents, below /docs/."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import subprocess
import sys
from importlib.util import find_spec

import pytest
from django.test import Client

from tools import docs_site

SCRIPT = "document.title"


@pytest.fixture
def site(settings, tmp_path):
    """Build a small site: a page with an inline script and a code sample, and a file with a script."""
    settings.ALLOWED_HOSTS = ["exchange.example"]
    settings.DOCS_SITE = tmp_path / "docs"
    page = settings.DOCS_SITE / "guides/suppliers/index.html"
    page.parent.mkdir(parents=True)
    page.write_text(f"<script>{SCRIPT}</script><h1>Guide</h1><code>curl http://127.0.0.1:8000/v3</code>")
    (settings.DOCS_SITE / "bundle.0123abcd.min.js").write_text("1")
    (tmp_path / "secret.html").write_text("secret")
    return Client(SERVER_NAME="exchange.example")


@pytest.fixture
def unbuilt(settings, tmp_path):
    settings.DOCS_SITE = tmp_path / "docs"
    return Client()


def test_a_sample_has_the_address_of_this_service(site):
    answer = site.get("/docs/guides/suppliers/")
    assert "<code>curl http://exchange.example/v3</code>" in answer.content.decode()


def test_a_page_allows_only_our_own_files_and_its_own_scripts(site):
    policy = site.get("/docs/guides/suppliers/").headers["Content-Security-Policy"]
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    assert f"script-src 'self' 'sha256-{digest}';" in policy
    assert "unsafe" not in policy


def test_an_unchanged_page_is_not_sent_again(site):
    first = site.get("/docs/guides/suppliers/")
    again = site.get("/docs/guides/suppliers/", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert "immutable" in site.get("/docs/bundle.0123abcd.min.js").headers["Cache-Control"]


@pytest.mark.parametrize(
    "path",
    [
        *("../secret.html", "guides/../../secret.html", "%2e%2e/secret.html", "nowhere/"),
        *("%00", "x" * 300, f"guides/{'x' * 300}/"),
    ],
)
def test_files_outside_of_the_site_are_not_found(site, path):
    answer = site.get(f"/docs/{path}")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_an_unusable_name_is_not_found_while_the_site_is_not_built(unbuilt):
    assert {unbuilt.get(f"/docs/{name}").status_code for name in ("%00", "x" * 300)} == {404}


def test_a_page_without_its_slash_leads_to_the_page(site):
    assert site.get("/docs/guides/suppliers").headers["Location"] == "/docs/guides/suppliers/"


def test_the_addresses_of_earlier_releases_lead_to_the_pages():
    for old, new in {"suppliers": "guides/suppliers", "errors": "errors", "api-guide": "api-guide"}.items():
        assert Client().get(f"/v3/docs/{old}").headers["Location"] == f"/docs/{new}/"


def test_the_markdown_is_shown_while_the_site_is_not_built(unbuilt):
    answer = unbuilt.get("/docs/guides/suppliers/")
    assert answer.headers["Content-Type"].startswith("text/plain")
    assert answer.content.startswith(b"# Guide for suppliers")
    assert unbuilt.get("/docs/nowhere/").status_code == 404


def test_neighboring_blocks_of_several_languages_become_tabs():
    alone = "```sh\ncurl y\n```\n\n```sh\ncurl z\n```\n"
    tabs = docs_site.with_tabs(f"```sh\ncurl x\n```\n\n```python\na\n\nb\n```\n\nAfter\n\n{alone}")

    assert '=== "curl"\n\n    ```sh\n    curl x\n    ```\n' in tabs
    assert '=== "Python"\n\n    ```python\n    a\n\n    b\n    ```\n' in tabs
    assert tabs.endswith(f"After\n\n{alone}")


def test_a_dark_screen_gets_the_dark_picture_of_a_page():
    page = docs_site.ROOT / "docs/operators.md"

    both = docs_site.with_dark_pictures("![The desk](images/desk.png)\n", page)
    one = docs_site.with_dark_pictures("![A slip](images/packing-slip.png)\n", page)

    assert both == "![The desk](images/desk.png#only-light)\n![The desk](images/desk-dark.png#only-dark)\n"
    assert one == "![A slip](images/packing-slip.png)\n"


def test_the_content_of_a_list_item_stays_in_its_item():
    page = "1. **Upload** it:\n\n   ```sh\n   put a\n   ```\n\n2. Then:\n   - wait\n\nThe end.\n"
    nested = docs_site.with_nested_blocks(page)
    assert "\n    ```sh\n    put a\n    ```\n" in nested
    assert nested.endswith("2. Then:\n    - wait\n\nThe end.\n")
    code = "```yaml\n- a\n  b\n```\n"
    assert docs_site.with_nested_blocks(code) == code


@pytest.mark.parametrize(("natural", "shown"), [(400, 400), (1_000, 680), (2_000, 1_160)])
def test_a_diagram_is_as_wide_as_the_text_or_wide_enough_to_be_legible(natural, shown):
    assert docs_site.shown_width(f'<svg viewBox="0 0 {natural}.5 10">') == shown


def test_a_link_to_a_file_of_the_source_becomes_text():
    pages = dict(docs_site.pages())
    assert "tools/clients/python/README.md)" in pages["api-guide.md"]
    assert "../LICENSE" not in "".join(pages.values())


STOPPED_BUILD = """
import os, signal
from tools import docs_site
docs_site.pages = lambda: os.kill(os.getpid(), signal.SIGTERM) or []
docs_site.main()
"""


@pytest.mark.program
def test_a_stopped_build_leaves_no_folder(tmp_path):
    """`make down` may stop the build, which begins after the services have started."""
    environment = {**os.environ, "DATA_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", STOPPED_BUILD], cwd=docs_site.ROOT, env=environment, check=False
    )

    assert done.returncode == 143
    assert [*tmp_path.iterdir()] == []


@pytest.mark.program
@pytest.mark.skipif(find_spec("zensical") is None, reason="`make docs` installs zensical")
def test_the_site_is_built_and_each_page_obeys_its_policy(settings, tmp_path):
    settings.DOCS_SITE = tmp_path / "docs"
    assert docs_site.build(settings.DOCS_SITE, strict=True) == 0
    assert docs_site.build(settings.DOCS_SITE, strict=True) == 0, "a second build must replace the first"

    for path in ("", "guides/suppliers/", "errors/", "adr/"):
        answer = Client().get(f"/docs/{path}")
        page = answer.content.decode()
        assert "<h1" in page
        assert not re.search(r"<style|\bstyle=|\bon(load|click|error)=", page), path
        for address in re.findall(r'<(?:script|link|img|iframe)[^>]*(?:src|href)="([^"]+)"', page):
            assert not re.match(r"(https?:)?//(?!testserver)", address), address
    assert 'id="busy"' in Client().get("/docs/errors/").content.decode()
    assert Client().get("/docs/search.json").json()["items"]
