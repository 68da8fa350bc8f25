"""A program of `make run` that waits until the whole Exchange answers, and then shows its addresses.

For a demo, the program also gives demo.json its normal name. At the first run, it plays the first order.
"""

import json
import subprocess
import sys
import time
from http.client import HTTPConnection, HTTPException

from config.ports import reachable
from config.settings import ALLOWED_HOSTS, BASE_DIR, BASE_URL, DATA_DIR, PORT, SFTP_HOST, SFTP_PORT
from tools.launcher.demo_json import reveal_keys
from tools.launcher.programs import DEMO, HOST

REMINDER = 15.0  # seconds between two lines about missing parts
PLAYED = DATA_DIR / "demo-played"


def main() -> None:
    """Wait, play an order at the first run, and print the addresses last, so that they stay visible."""
    wait_until_ready()
    if DEMO:
        reveal_keys(DATA_DIR)
    try:
        if DEMO and not PLAYED.exists():
            write("This is the first run: one order, from upload to shipment, through the public interface.")
            manage("demo")
            PLAYED.touch()
    finally:  # the addresses are right even if the order fails
        write(boxed(welcome()))


def wait_until_ready() -> None:
    """Poll /statusz until it answers 200, and print the missing parts every few seconds."""
    reminded = time.monotonic()
    while missing := not_ready():
        if time.monotonic() - reminded > REMINDER:
            reminded = time.monotonic()
            write(f"Not ready yet: {missing}")
        time.sleep(0.2)  # a service does not announce that it is ready, so poll


def not_ready() -> str:
    """Return the parts that /statusz reports as missing, or an empty string if the service is ready."""
    connection = HTTPConnection(reachable(HOST), PORT, timeout=10)
    try:
        connection.request("GET", "/statusz", headers={"Host": allowed_host()})
        answer = connection.getresponse()
        body = answer.read().decode(errors="replace").strip()
    except (OSError, HTTPException) as error:
        return f"the web server ({error})"
    finally:
        connection.close()
    return "" if answer.status == 200 else f"{answer.status} {body[:300]}"


def allowed_host() -> str:
    """Return a host name that ALLOWED_HOSTS accepts."""
    names = [name for name in ALLOWED_HOSTS if name != "*" and not name.startswith(".")]
    return "127.0.0.1" if "127.0.0.1" in names or not names else names[0]


def welcome() -> list[str]:
    """Return the lines with the addresses."""
    lines = ["The Exchange is running.", "", f"Admin     {BASE_URL}/admin/"]
    if DEMO:
        demo = json.loads((DATA_DIR / "demo.json").read_text())
        admin = demo["admin"]
        lines.append(f"Operator  {admin['username']}, password {admin['password']}")
        lines.append(f"Portal    {BASE_URL}/portal/")
        lines += [
            f"{label:<9} {member['email']}, password {member['password']}"
            for label, member in one_of_each_side(demo["members"])
        ]
        lines.append(f"Keys      {DATA_DIR / 'demo.json'}")
    return [
        *lines,
        f"Docs      {BASE_URL}/docs/",
        f"SFTP      {reachable(SFTP_HOST)}, port {SFTP_PORT}",
        "Stop      Ctrl-C here, or `make down` in another terminal",
    ]


def one_of_each_side(members: list[dict[str, str]]) -> list[tuple[str, dict[str, str]]]:
    """Return a member of the last supplier and a member of the last retailer, with their roles.

    The first supplier handles the first order and has no open work. The parties of the market come later in
    the list and have open work.
    """
    found = {member["party"].partition(":")[0]: member for member in members}
    return [(side.capitalize(), found[side]) for side in ("supplier", "retailer") if side in found]


def boxed(lines: list[str]) -> str:
    """Draw a box around lines."""
    width = max(map(len, lines))
    edge = f"+{'-' * (width + 2)}+"
    return "\n".join([edge, *(f"| {line:<{width}} |" for line in lines), edge])


def manage(*arguments: str) -> None:
    """Run a management command to its end. Exit if the command fails."""
    done = subprocess.run([sys.executable, "manage.py", *arguments], cwd=BASE_DIR, check=False)
    if done.returncode != 0:
        sys.exit(f"manage.py {' '.join(arguments)} failed (exit code {done.returncode}).")


def write(text: str) -> None:
    """Print a text without buffering."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
