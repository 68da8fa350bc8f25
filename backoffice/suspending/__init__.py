"""Stopping trade for a while: `services` (doing and undoing it), `meaning` (what it would do), `pages`."""
