"""The programs that `make run` starts, with their commands."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from environs import Env, validate

from api.wrong_settings import exit_with_sentence
from config.settings import BASE_DIR, DATA_DIR, PORT, SFTP_HOST, SFTP_PORT
from tools.docs_site import OUTSIDE
from tools.launcher.processes.program import Program


def demo_size(value: str) -> str:
    """Return the size of the demo that the setting DEMO names: `market`, `small`, or "" for no demo."""
    sizes = {"0": "", "no": "", "off": "", "false": "", "1": "market", "yes": "market", "true": "market"}
    size = sizes.get(value.lower(), value.lower())
    if size not in ("market", "small", ""):
        sys.exit(f"DEMO is {value!r}; set it to market, small or 0.")
    return size


env = Env()
HOST = env.str("HOST", "127.0.0.1")
ALL_ADDRESSES = ("0.0.0.0", "::", "")  # noqa: S104 - compared, not bound
with exit_with_sentence():
    WORKER_CONCURRENCY = env.int("WORKER_CONCURRENCY", 2, validate=validate.Range(min=1))
    FETCH_THREADS = env.int("FETCH_THREADS", 8, validate=validate.Range(min=1))
    SEPARATE_PARTS = env.bool("SEPARATE_PARTS", False)
"""Whether each part gets its own process, as in production. By default, SHARED parts use one process."""

SHARED = ("beat", "ticker", "fetcher", "webhooks", "sftp")
"""The parts that share one process unless SEPARATE_PARTS is set."""

DEMO = demo_size(env.str("DEMO", "market"))
"""The data that `make run` creates: `market`, `small` (the parties of the first order), or nothing."""

STATIC_STAMP = DATA_DIR / "static.stamp"
DOCS_STAMP = DATA_DIR / "docs.stamp"


def listening() -> list[tuple[str, int, str]]:
    """Return the addresses of the services: host, port, and the variable that sets the port."""
    return [(HOST, PORT, "PORT"), (SFTP_HOST, SFTP_PORT, "SFTP_PORT")]


def shared_port() -> str:
    """Return a sentence if web and SFTP would listen at the same address, or an empty string."""
    same_host = HOST == SFTP_HOST or not {HOST, SFTP_HOST}.isdisjoint(ALL_ADDRESSES)
    if PORT != SFTP_PORT or not same_host:
        return ""
    return f"PORT and SFTP_PORT are both {PORT}: choose another port for one of them."


def service_environment(urls: Mapping[str, str]) -> dict[str, str]:
    """Return the launcher's environment with the URLs of the started servers."""
    # A demo may run as root. Each Celery process would warn about this in eight lines.
    unbuffered = {"PYTHONUNBUFFERED": "1", "PYTHONWARNINGS": "ignore:You're running the worker"}
    # The demo's operator needs no second factor, because the demo has no phone or security key.
    demo = {"SECOND_FACTOR_EXEMPT": "operator"} if DEMO else {}
    return {**demo, **os.environ, **unbuffered, **urls, "DATA_DIR": str(DATA_DIR)}


def python(name: str, *arguments: str, environment: Mapping[str, str], stop_timeout: float = 10.0) -> Program:
    """Return a program that runs with the launcher's Python."""
    command = (sys.executable, *arguments)
    return Program(name, command, folder=BASE_DIR, environment=environment, stop_timeout=stop_timeout)


def preparations(environment: Mapping[str, str]) -> list[Program]:
    """Return the programs that run side by side before the services start."""
    found = [python("prepare", "-m", "tools.launcher.prepare", environment=environment)]
    if not STATIC_STAMP.exists() or STATIC_STAMP.read_text() != static_state():
        collect = ("manage.py", "collectstatic", "--no-input", "-v0")
        found.append(python("static", *collect, environment=environment))
    return found


def documents(environment: Mapping[str, str]) -> Program:
    """Return the program that builds the site of the documents."""
    return python("docs", "-m", "tools.docs_site", environment=environment)


def services(environment: Mapping[str, str]) -> list[Program]:
    """Return the services of the Exchange: few processes, or one for each part."""
    parts = separate_parts(environment)
    if SEPARATE_PARTS:
        return parts
    together = python(
        "parts", "-m", "config.shared_process", *SHARED, environment=environment, stop_timeout=15.0
    )
    return [*(part for part in parts if part.name not in SHARED), together]


def separate_parts(environment: Mapping[str, str]) -> list[Program]:
    """Return one program for each part, with the same commands as the examples in deploy/."""
    celery = ("-m", "celery", "-q", "-A", "config")
    alone = ("--without-gossip", "--without-mingle")
    worker = ("worker", "--concurrency", str(WORKER_CONCURRENCY), *alone)
    # Use threads, because this work waits for other hosts and for the database. These workers send no Celery
    # heartbeat, because /statusz checks only the heartbeat of the import workers.
    threads = ("worker", "--pool", "threads", "--without-heartbeat", *alone)
    fetcher = (*threads, "-Q", "fetch", "--concurrency", str(FETCH_THREADS), "-n", "fetcher@%h")
    ticker = (*threads, "-Q", "ticks,operators", "--concurrency", "6", "-n", "ticker@%h")
    quiet = {"LOG_LEVEL": "WARNING", **environment}  # otherwise beat would log each tick
    return [
        python("web", "-m", "gunicorn", "config.wsgi", environment=environment, stop_timeout=15.0),
        python("worker", *celery, *worker, "-l", "INFO", environment=environment, stop_timeout=15.0),
        python("fetcher", *celery, *fetcher, "-l", "WARNING", environment=environment),
        python("ticker", *celery, *ticker, "-l", "WARNING", environment=environment),
        python("beat", *celery, "beat", "-l", "WARNING", environment=quiet),
        python("webhooks", "manage.py", "send_webhooks", environment=environment, stop_timeout=15.0),
        python("sftp", "manage.py", "sftp_server", environment=environment),
    ]


def welcome(environment: Mapping[str, str]) -> Program:
    """Return the program that waits for the services, prints their addresses and plays the first order."""
    return python("welcome", "-m", "tools.launcher.welcome", environment=environment)


def static_state() -> str:
    """Return a text that changes with the sources of static files, so that they are then collected again."""
    ours = sorted(path for path in BASE_DIR.glob("*/static/**/*") if path.is_file())
    return "\n".join(_state_of(path) for path in (BASE_DIR / "requirements.txt", *ours))


def docs_state() -> str:
    """Return a text that changes with the sources of the documents, so that the site is then built again."""
    pages = sorted(path for path in BASE_DIR.glob("docs/**/*") if path.is_file())
    ours = [BASE_DIR / name for name in ("zensical.toml", "tools/docs_site.py", *OUTSIDE)]
    return "\n".join(_state_of(path) for path in (*ours, *pages))


def _state_of(path: Path) -> str:
    status = path.stat()
    return f"{path} {status.st_size} {status.st_mtime_ns}"
