"""The page that shows each component of the design system."""

from pathlib import Path

import pytest
from django.conf import settings

from ui.badges import badge

COMPONENTS = Path(settings.BASE_DIR) / "templates" / "ui"
# Templates that are not components: parts of every page, the gallery itself, and contents of whole pages.
FRAME = {"shell", "navigation", "messages", "gallery", "heading", "moving"}
FRAME |= {"act", "corrections", "invited"}


def test_the_gallery_shows_every_component(admin_client):
    page = admin_client.get("/admin/ui/")
    assert page.status_code == 200
    rendered = {template.name for template in page.templates}
    components = {f"ui/{path.name}" for path in COMPONENTS.glob("*.html") if path.stem not in FRAME}
    assert components - rendered == set()
    assert len(components) >= 15


def test_only_superusers_open_the_gallery(operator):
    assert operator.get("/admin/ui/").status_code == 403


def test_each_icon_of_a_page_is_in_the_sprite(admin_client):
    sprite = Path(settings.BASE_DIR, "ui", "static", "ui", "icons.svg").read_text(encoding="utf-8")
    for path in (Path(settings.BASE_DIR) / "templates").rglob("*.html"):
        for part in path.read_text(encoding="utf-8").split('{% icon "')[1:]:
            name = part.partition('"')[0]
            assert f'id="{name}"' in sprite, f"{path.name}: {name}"


@pytest.mark.parametrize(
    ("state", "shown"),
    [
        ("missing_sku", '<span class="ui-badge ui-bad">Missing SKU</span>'),
        ("succeeded_with_errors", '<span class="ui-badge ui-warn">Completed with errors</span>'),
        ("canceled", '<span class="ui-badge">Canceled</span>'),
        ("<b>", '<span class="ui-badge">&lt;b&gt;</span>'),
    ],
)
def test_a_badge_shows_a_state_in_words(state, shown):
    assert badge(state) == shown
