"""Fixtures and helpers for pages of the portal: browsers of signed-in members."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from accounts.member_roles import MemberRole
from accounts.models import Member, Retailer, Supplier
from tests.backoffice.conftest import operator, pushed  # noqa: F401
from tests.factories import MemberFactory


def browser_of(member: Member) -> Client:
    """Return the browser of a signed-in member."""
    client = Client()
    client.force_login(member.user)
    return client


@pytest.fixture
def member_of() -> Callable[..., Member]:
    def make(party: Supplier | Retailer, role: MemberRole = MemberRole.OWNER, **fields: Any) -> Member:
        return MemberFactory.create(member_role=role, **{party.role.value: party}, **fields)

    return make


@pytest.fixture
def owner(acme: Supplier, member_of: Callable[..., Member]) -> Member:
    return member_of(acme, user__username="ana@acme.example", user__first_name="Ana")


@pytest.fixture
def ana(owner: Member) -> Client:
    """Return the browser of Acme's owner."""
    return browser_of(owner)


@pytest.fixture
def sam(shop: Retailer, member_of: Callable[..., Member]) -> Client:
    """Return the browser of Shop's owner."""
    return browser_of(member_of(shop, user__first_name="Sam"))


def act(client: Client, path: str, **answers: Any) -> Any:
    """Open the page of an action, send its form, and return the page after the redirect."""
    page = client.get(path)
    assert page.status_code == 200, page.content
    [form_id] = re.findall(r'name="form_id" value="([^"]+)"', page.content.decode())
    return client.post(path, {"form_id": form_id, **answers}, follow=True)


def said(page: Any) -> list[str]:
    """Return the messages on a page."""
    return [str(message) for message in page.context["messages"]]
