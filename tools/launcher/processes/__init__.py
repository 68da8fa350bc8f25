"""The start and the stop of programs, and the account under which they run."""


class CannotStart(Exception):
    """The error for a program that cannot start on this machine. Its message says how to solve this."""
