"""A supervisor of two tiny programs, for tests: `python -m tests.launcher.tiny_supervisor FOLDER`.

Each program writes its process id into FOLDER/NAME.pid, and has a child that ignores SIGTERM.
"""

import signal
import sys
from pathlib import Path

from tools.launcher.lock import try_lock, write_holder
from tools.launcher.processes.program import Program
from tools.launcher.reaper.client import Reaper
from tools.launcher.screen import standard_screen
from tools.launcher.supervisor import StopRequested, Supervisor

PROGRAM = """
import os, signal, subprocess, sys, time
name = sys.argv[1]
stays = "import signal as s, time; s.signal(s.SIGTERM, s.SIG_IGN); print(1, flush=True); time.sleep(600)"
child = subprocess.Popen([sys.executable, "-c", stays], stdout=subprocess.PIPE)
child.stdout.readline()
def write_pid(file, pid):
    with open(file + ".half", "w") as half:
        half.write(str(pid))
    os.rename(file + ".half", file)
def say_goodbye(*_):
    print("goodbye", flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, say_goodbye)
write_pid(name + "-child.pid", child.pid)
write_pid(name + ".pid", os.getpid())
time.sleep(600)
"""


def main() -> None:
    """Run the programs until a signal arrives."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests may run under nohup, which ignores it
    folder = Path(sys.argv[1])
    lock = try_lock(folder)
    if lock is None:
        sys.exit("locked")
    write_holder(lock)
    screen = standard_screen({})
    reaper = Reaper(keep_open=(lock,), stop_timeout=0.5)  # the children of the programs ignore SIGTERM
    try:
        with Supervisor(screen, reaper) as supervisor:
            supervisor.run_to_end()  # without programs, this call ends at once
            for name in ("first", "second"):
                command = (sys.executable, "-c", PROGRAM, name)
                (process,) = supervisor.start(Program(name, command, folder=folder))
                supervisor.keep_running(process)
                supervisor.run_until((folder / f"{name}.pid").exists, step=0.02)
            (folder / "up").write_text(str(reaper.pid))
            supervisor.run_until(lambda: False)
    except StopRequested:
        pass
    finally:
        reaper.close()
        screen.close()


if __name__ == "__main__":
    main()
