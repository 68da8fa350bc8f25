"""Starting and stopping programs, and the account that they run under."""


class CannotStart(Exception):
    """A program cannot start on this machine. The message says how to solve that."""
