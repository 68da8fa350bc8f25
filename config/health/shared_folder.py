"""The check that all hosts use the same upload folder. Each host stores its folder's random mark in Redis."""

from __future__ import annotations

import json
import secrets
import socket
import time
from contextlib import suppress
from pathlib import Path

from django.conf import settings
from redis.exceptions import RedisError

from config.health.worker import redis_client

KEY = "exchange:upload-folders"
MARK = ".which"
HEARD_WITHIN = 120.0
"""Seconds for which the report of another host counts."""


def shared_folder() -> str:
    """Return `ok`, or name the hosts with another folder, whose uploads this host would not find."""
    if getattr(settings, "UPLOADS_URL", ""):
        return "ok"  # all hosts use the storage at UPLOADS_URL, so there is no folder to compare
    host = socket.gethostname()
    try:
        mine = mark_of(settings.UPLOADS_DIR)
        with redis_client() as client:
            client.hset(KEY, host, json.dumps([mine, time.time()]))
            others = {name.decode(): json.loads(said) for name, said in client.hgetall(KEY).items()}
    except RedisError:
        return "ok"  # another check reports that Redis is down
    except OSError as error:
        return f"cannot be written ({error.strerror})"
    strangers = [
        name
        for name, (mark, at) in sorted(others.items())
        if mark != mine and time.time() - at < HEARD_WITHIN and name != host
    ]
    return f"differs from the folder of {', '.join(strangers)}" if strangers else "ok"


def mark_of(folder: Path) -> str:
    """Return the random mark that the first check wrote to this folder. Raises OSError."""
    path = folder / MARK
    folder.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError), path.open("x") as file:
        file.write(secrets.token_hex(8))
    return path.read_text()
