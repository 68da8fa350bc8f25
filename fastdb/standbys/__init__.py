"""Reads from standbys of the database. The decorator in `reads` marks views that may use them (ADR 63)."""
