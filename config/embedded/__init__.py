"""PostgreSQL and Redis for a machine that has none, or that was not told where they are."""
