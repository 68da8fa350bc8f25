"""The site of the documents in a browser.

The browser reports violations of the site's content security policy, and the fixture `browser` fails.
"""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from tools import docs_site

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(find_spec("zensical") is None, reason="`make docs` installs zensical"),
]


def test_pages_diagrams_and_the_search_obey_the_policy(browser, settings, tmp_path):
    settings.DOCS_SITE = tmp_path / "docs"
    assert docs_site.build(settings.DOCS_SITE, strict=True) == 0

    browser.open("/docs/states/")
    diagrams = browser.page.locator("article img:visible")
    diagrams.first.wait_for()
    assert diagrams.count() == 1
    assert diagrams.evaluate("image => image.naturalWidth") > 100

    browser.page.get_by_role("button", name="Search").click()
    browser.page.keyboard.type("idempotency")
    results = browser.page.locator("a", has_text="Send a new key")
    results.first.wait_for(timeout=20_000)
    assert "/docs/errors/" in results.first.get_attribute("href")
