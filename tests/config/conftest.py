"""Signals as a terminal would send them."""

import signal

# A shell that starts a job in the background lets it ignore Ctrl-C, and with it all that it starts; make and
# Python then never see the SIGINT that these tests send.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
