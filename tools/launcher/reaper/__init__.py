"""The reaper: a process that ends what the launcher started, even when the launcher is killed."""
