"""The reaper: a process that ends the launcher's programs, even if the launcher is killed."""
