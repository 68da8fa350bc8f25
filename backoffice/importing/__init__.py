"""Imports from the browser: `forms`, `pages` (upload and mapping), `corrections` (rejected rows)."""
