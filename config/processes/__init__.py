"""Programs that a program of ours starts, and that never outlive it."""


class CannotStart(Exception):
    """Something cannot be started here; the message says what to do about it."""
