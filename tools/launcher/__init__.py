"""`make run`: the whole Exchange in one terminal, with PostgreSQL and Redis where no URL is given."""
