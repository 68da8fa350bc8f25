"""Settings of a server that makes only the two round trips of authentication and rate limits."""

from tools.bench.serving.unguarded import *  # noqa: F403
from tools.bench.serving.unguarded import REST_FRAMEWORK as UNGUARDED

REST_FRAMEWORK = {
    **UNGUARDED,
    "DEFAULT_AUTHENTICATION_CLASSES": ["tools.bench.serving.bare_round_trips.TwoRoundTrips"],
}
