"""Imports from the browser: `forms`, `pages` (upload and mapping), `mappings`, `corrections`."""
