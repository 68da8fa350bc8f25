"""Hits of a search."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Model
from django.urls import reverse

MOST = 10
"""The maximum number of hits shown per kind."""


@dataclass(frozen=True)
class Hit:
    """A found record. `found_by` names the matching field; `exact` says whether the whole value matched."""

    name: str
    url: str
    found_by: str = ""
    about: str = ""
    state: str = ""
    exact: bool = False


@dataclass(frozen=True)
class HitGroup:
    """The hits of one kind of record, without duplicates."""

    title: str
    hits: list[Hit]
    more: bool

    @classmethod
    def of(cls, title: str, found: Iterable[Hit]) -> HitGroup:
        once: dict[str, Hit] = {}
        for hit in found:
            once.setdefault(hit.url, hit)
        hits = [*once.values()]
        return cls(title, hits[:MOST], more=len(hits) > MOST)


def the_one(groups: Iterable[HitGroup]) -> Hit | None:
    """Return the only hit, else the only exact hit, else None."""
    hits = [hit for group in groups for hit in group.hits]
    for among in (hits, [hit for hit in hits if hit.exact]):
        if len(among) == 1:
            return among[0]
    return None


def page_of(record: Model) -> str:
    """Return the URL of a record's page."""
    meta = record._meta
    return reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[record.pk])


def same(text: str, term: str) -> bool:
    return text.lower() == term.lower()
