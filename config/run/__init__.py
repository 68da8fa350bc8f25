"""`make run`: the whole Exchange in one foreground, from its servers to its first order."""
