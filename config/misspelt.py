"""The search for environment variables that look like misspelt settings."""

from __future__ import annotations

from collections.abc import Iterable

from api.spelling import closest_match

# Settings that only code outside of config.settings reads.
OTHERS = {"HOST", "WEB_WORKERS", "WEB_THREADS", "WORKER_CONCURRENCY", "FETCH_THREADS", "DEMO"}


def misspelt(environment: Iterable[str], known: Iterable[str]) -> list[str]:
    """Return a sentence for each variable whose name is similar to a setting."""
    names = {name.lower(): name for name in {*known, *OTHERS}}
    unknown = sorted(name for name in environment if name.upper() == name and name.lower() not in names)
    near = {name: closest_match(name, names, likeness=0.88) for name in unknown}
    return [f"{name} is not a setting. Did you mean {names[match]}?" for name, match in near.items() if match]
