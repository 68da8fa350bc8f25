"""What a search has found, and what was certainly meant."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Model
from django.urls import reverse

MOST = 10
"""Hits of a kind that are shown."""


@dataclass(frozen=True)
class Hit:
    """One thing that was found: what it is called, where its page is, and what of it the term was.

    `exact` where the term is the whole of what it is called.
    """

    name: str
    url: str
    found_by: str = ""
    about: str = ""
    state: str = ""
    exact: bool = False


@dataclass(frozen=True)
class Group:
    """The hits of one kind, each once."""

    title: str
    hits: list[Hit]
    more: bool

    @classmethod
    def of(cls, title: str, found: Iterable[Hit]) -> Group:
        once: dict[str, Hit] = {}
        for hit in found:
            once.setdefault(hit.url, hit)
        hits = [*once.values()]
        return cls(title, hits[:MOST], more=len(hits) > MOST)


def the_one(groups: Iterable[Group]) -> Hit | None:
    """What was certainly meant: the only hit, or the only one that is just that."""
    hits = [hit for group in groups for hit in group.hits]
    for among in (hits, [hit for hit in hits if hit.exact]):
        if len(among) == 1:
            return among[0]
    return None


def page_of(record: Model) -> str:
    """The address of a record's page."""
    meta = record._meta
    return reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[record.pk])


def same(text: str, term: str) -> bool:
    return text.lower() == term.lower()
