"""Settings of a server that gives away its guards, but for the two round trips that they need."""

from bench.serving.unguarded import *  # noqa: F403
from bench.serving.unguarded import REST_FRAMEWORK as UNGUARDED

REST_FRAMEWORK = {
    **UNGUARDED,
    "DEFAULT_AUTHENTICATION_CLASSES": ["bench.serving.bare_round_trips.TwoRoundTrips"],
}
