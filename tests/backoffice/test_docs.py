"""The documents list the settings that the code reads, and their links lead to pages that exist."""

import re

from django.conf import settings

DOCS = settings.BASE_DIR / "docs"


def test_every_setting_is_in_the_docs_and_every_documented_one_is_read():
    read = {
        name
        for files in ("config/**/*.py", "tools/launcher/**/*.py", "gunicorn.conf.py")
        for path in settings.BASE_DIR.glob(files)
        for name in re.findall(r'\benv\.\w+\("([A-Z_]+)"', path.read_text(encoding="utf-8"))
    }
    rows = re.findall(r"^\| (`[A-Z_]+`(?:, `[A-Z_]+`)*) \|", (DOCS / "running.md").read_text(), re.MULTILINE)
    documented = {name for row in rows for name in re.findall(r"[A-Z_]+", row)}
    assert documented == read


def test_links_between_pages_lead_somewhere():
    pages = [*settings.BASE_DIR.glob("*.md"), *DOCS.rglob("*.md")]
    broken = [
        (page.name, target)
        for page in pages
        for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", page.read_text(encoding="utf-8"))
        if not (page.parent / target).exists()
    ]
    assert broken == []
