"""The command line of a process. It identifies the process, while the system may reuse a process id."""

import subprocess
from pathlib import Path


def command_of(pid: int) -> str:
    """Return the command line of a running process, or an empty string if it has ended."""
    proc = Path("/proc", str(pid))
    try:
        return proc.joinpath("cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return "" if Path("/proc/self").exists() else _ask_ps(pid)


def _ask_ps(pid: int) -> str:
    listing = ["ps", "-ww", "-o", "stat=,command=", "-p", str(pid)]
    found = subprocess.run(listing, capture_output=True, text=True, check=False).stdout.strip()
    state, _, command = found.partition(" ")
    return "" if state.startswith("Z") else f"{command.strip()} "
