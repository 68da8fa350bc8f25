"""Starting and stopping programs, and the account that they run under."""


class CannotStart(Exception):
    """Something cannot be started here; the message says what to do about it."""
