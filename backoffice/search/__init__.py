"""Searching from anywhere in the admin: `finders` (what a term finds, by ranges of indexes), `views`."""
