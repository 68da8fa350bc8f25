"""A supervisor over two tiny parts, for tests: `python -m tests.config.tiny FOLDER`.

Each part writes its number into FOLDER/NAME.pid, and has a child that ignores SIGTERM.
"""

import sys
from pathlib import Path

from config.processes.leash import Leash
from config.processes.program import Program
from config.run.lines import standard_screen
from config.run.lock import try_lock, write_holder
from config.run.supervisor import Ended, Supervisor

PART = """
import os, signal, subprocess, sys, time
name = sys.argv[1]
deaf = "import signal as s, time; s.signal(s.SIGTERM, s.SIG_IGN); print(1, flush=True); time.sleep(600)"
child = subprocess.Popen([sys.executable, "-c", deaf], stdout=subprocess.PIPE)
child.stdout.readline()
def tell(file, number):
    with open(file + ".half", "w") as half:
        half.write(str(number))
    os.rename(file + ".half", file)
def farewell(*_):
    print("goodbye", flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, farewell)
tell(name + "-child.pid", child.pid)
tell(name + ".pid", os.getpid())
time.sleep(600)
"""


def main() -> None:
    """Run the parts until somebody ends it."""
    folder = Path(sys.argv[1])
    lock = try_lock(folder)
    if lock is None:
        sys.exit("locked")
    write_holder(lock)
    screen = standard_screen({})
    leash = Leash(keeps_open=(lock,))
    try:
        with Supervisor(screen, leash) as supervisor:
            for name in ("first", "second"):
                command = (sys.executable, "-c", PART, name)
                (part,) = supervisor.start(Program(name, command, folder=folder))
                supervisor.keep(part)
                supervisor.pump((folder / f"{name}.pid").exists, step=0.02)
            (folder / "up").write_text(str(leash.guardian))
            supervisor.pump(lambda: False)
    except Ended:
        pass
    finally:
        leash.close()
        screen.close()


if __name__ == "__main__":
    main()
