"""Settings that look like one of ours and are none: whoever set them believes that they count."""

from __future__ import annotations

from collections.abc import Iterable

from api.spelling import closest_match

# What is read elsewhere than in the settings.
OTHERS = {"HOST", "WEB_WORKERS", "WEB_THREADS", "WORKER_CONCURRENCY", "FETCH_THREADS", "DEMO"}


def misspelt(environment: Iterable[str], known: Iterable[str]) -> list[str]:
    """A sentence for each variable whose name is nearly that of a setting."""
    names = {name.lower(): name for name in {*known, *OTHERS}}
    strangers = sorted(name for name in environment if name.upper() == name and name.lower() not in names)
    near = {name: closest_match(name, names, likeness=0.88) for name in strangers}
    return [f"{name} is no setting. Did you mean {names[found]}?" for name, found in near.items() if found]
