"""PostgreSQL and Redis, started by us where DATABASE_URL or REDIS_URL is not set."""
