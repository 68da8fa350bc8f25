"""`make run`: the whole Exchange in one terminal, with PostgreSQL and Redis if their URLs are not set."""
