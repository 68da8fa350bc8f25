"""Waits until the whole Exchange answers, hands out the demo's keys, and plays the first order.

A part of `make run` that ends when it is done.
"""

import json
import subprocess
import sys
import time
from http.client import HTTPConnection, HTTPException

from config.run.keys import reveal_keys
from config.run.plan import DEMO, HOST
from config.settings import ALLOWED_HOSTS, BASE_DIR, BASE_URL, DATA_DIR, PORT, SFTP_HOST, SFTP_PORT

REMINDER = 15.0  # seconds between two words about what is not ready yet
PLAYED = DATA_DIR / "demo-played"


def main() -> None:
    """Wait, tell, show."""
    wait_until_ready()
    if DEMO:
        reveal_keys(DATA_DIR)
        manage("demo_data", "--write-demo-json")
    tell("\n".join(welcome()))
    if DEMO and not PLAYED.exists():
        tell("This is the first run: one order, from upload to shipment, through the public interface.")
        manage("demo")
        PLAYED.touch()


def wait_until_ready() -> None:
    """Ask /readyz until it says yes; tell now and then what is missing."""
    told = time.monotonic()
    while missing := not_ready():
        if time.monotonic() - told > REMINDER:
            told = time.monotonic()
            tell(f"Not ready yet: {missing}")
        time.sleep(0.2)  # parts that start tell nobody; they are asked


def not_ready() -> str:
    """What /readyz misses; empty when all is there."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(HOST, HOST)  # noqa: S104
    line = HTTPConnection(host, PORT, timeout=10)
    try:
        line.request("GET", "/readyz", headers={"Host": allowed_host()})
        answer = line.getresponse()
        body = answer.read().decode(errors="replace").strip()
    except (OSError, HTTPException) as error:
        return f"the web server ({error})"
    finally:
        line.close()
    return "" if answer.status == 200 else f"{answer.status} {body[:300]}"


def allowed_host() -> str:
    """A name that Django lets in, whatever ALLOWED_HOSTS says."""
    names = [name for name in ALLOWED_HOSTS if name != "*" and not name.startswith(".")]
    return "127.0.0.1" if "127.0.0.1" in names or not names else names[0]


def welcome() -> list[str]:
    """Where everything is."""
    lines = ["", "The Exchange is running.", ""]
    if DEMO:
        admin = json.loads((DATA_DIR / "demo.json").read_text())["admin"]["username"]
        lines.append(f"  Admin   {BASE_URL}/admin/    user {admin}, password in the file below")
        lines.append(f"  Keys    {DATA_DIR / 'demo.json'}")
    else:
        lines.append(f"  Admin   {BASE_URL}/admin/")
    return [
        *lines,
        f"  Docs    {BASE_URL}/v3/docs",
        f"  SFTP    {SFTP_HOST}, port {SFTP_PORT}",
        "  End     Ctrl-C here, or `make down` elsewhere",
        "",
    ]


def manage(*arguments: str) -> None:
    """Run a management command to its end; its failure is ours."""
    done = subprocess.run([sys.executable, "manage.py", *arguments], cwd=BASE_DIR, check=False)
    if done.returncode != 0:
        sys.exit(f"manage.py {' '.join(arguments)} failed (exit code {done.returncode}).")


def tell(text: str) -> None:
    """Say it now."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
