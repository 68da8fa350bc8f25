"""A variant, and its form as a browser sends it."""

from __future__ import annotations

import pytest


@pytest.fixture
def lantern(acme, a_variant):
    return a_variant(acme, "LAN-1", retail_price="19.99", description="One\nTwo")


@pytest.fixture
def save(admin_client, lantern):
    """Return a function that opens the variant's page.

    It returns a function that sends the form of this page with changed fields, as a browser does.
    """
    path = f"/admin/catalog/variant/{lantern.pk}/change/"

    def opened():
        form = admin_client.get(path).context["adminform"].form
        sent = {}
        for bound in form:
            shown = bound.field.widget.format_value(bound.value())
            sent[bound.html_name] = sent[bound.html_initial_name] = "" if shown is None else str(shown)
        sent = {name: text.replace("\n", "\r\n") for name, text in sent.items()}
        return lambda **changed: admin_client.post(path, {**sent, **changed, "_continue": "1"})

    return opened
