"""A partner on one page: `scorecards` (how a supplier is doing)."""
