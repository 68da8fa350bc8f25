"""Reads from standbys of the database. Views with the decorator in `reads` may use a standby (ADR 63)."""
