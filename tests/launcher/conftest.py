"""A setup that lets SIGINT reach the processes of these tests."""

import signal

# A job that a shell starts in the background ignores SIGINT, and its child processes do, too. Make and Python
# would then ignore the SIGINT that these tests send.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
