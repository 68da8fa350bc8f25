"""Checks that each part of the service gives signs of life on each host where it ran lately."""

from __future__ import annotations

from typing import TypedDict

from redis.exceptions import RedisError

from api.signs_of_life import ALIVE_FOR, all_signs, parts_on_hosts

UNKNOWN = "unknown without Redis"


class PartJson(TypedDict):
    """A part on a host, as /statusz lists it."""

    part: str
    host: str
    alive: bool
    processes: int
    last_sign_seconds: float
    memory_bytes: int


def beat() -> str:
    """Return `ok` while a beat process on any host sends ticks."""
    try:
        ages = [place.age for place in parts_on_hosts(all_signs()) if place.part == "beat"]
    except RedisError:
        return UNKNOWN
    if not ages:
        return "no tick was reported"
    return "ok" if min(ages) < ALIVE_FOR else f"no tick for {min(ages):.0f} seconds"


def parts() -> str:
    """Return `ok`, or the parts that are silent on a host although they did not sign off."""
    try:
        found = parts_on_hosts(all_signs())
    except RedisError:
        return UNKNOWN
    silent = [place.part for place in found if place.missed]
    hosts = {name: [place.host for place in found if place.part == name] for name in silent}
    words = [
        f"{name} is silent on {silent.count(name)} of {len(hosts[name])} hosts" for name in sorted(hosts)
    ]
    return "; ".join(words) or "ok"


def listed() -> list[PartJson]:
    """Return each part on each host, or an empty list if Redis does not answer."""
    try:
        found = parts_on_hosts(all_signs())
    except RedisError:
        return []
    return [
        {
            "part": place.part,
            "host": place.host,
            "alive": bool(place.alive),
            "processes": len(place.alive),
            "last_sign_seconds": round(place.age, 1),
            "memory_bytes": place.memory,
        }
        for place in found
    ]
