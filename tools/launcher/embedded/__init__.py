"""The embedded servers: PostgreSQL and Redis as child processes, if DATABASE_URL or REDIS_URL is not set."""
