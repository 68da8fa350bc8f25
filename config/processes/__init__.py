"""Programs that a program of ours starts, and that never outlive it."""
