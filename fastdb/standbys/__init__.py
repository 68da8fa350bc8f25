"""Reads of listed pages and answers from a standby of the database: `reads` has the decorator (ADR 121)."""
