"""Settings of a server that gives away its guards, but for the two round trips that they need."""

from tools.bench.serving.unguarded import *  # noqa: F403
from tools.bench.serving.unguarded import REST_FRAMEWORK as UNGUARDED

REST_FRAMEWORK = {
    **UNGUARDED,
    "DEFAULT_AUTHENTICATION_CLASSES": ["tools.bench.serving.bare_round_trips.TwoRoundTrips"],
}
