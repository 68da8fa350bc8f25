"""The settings of the service, with the bare views beside its paths.

The variable `BENCH_AUTHENTICATION` names the class that replaces authentication. Rate limits and fair threads
are then switched off.
"""

import os

from config.settings import *  # noqa: F403
from config.settings import REST_FRAMEWORK as GUARDED
from config.web.turns import Turns

ROOT_URLCONF = "tools.bench.serving.urls"

if replacement := os.environ.get("BENCH_AUTHENTICATION"):
    REST_FRAMEWORK = {
        **GUARDED,
        "DEFAULT_AUTHENTICATION_CLASSES": [f"tools.bench.serving.authentication.{replacement}"],
        "DEFAULT_THROTTLE_CLASSES": [],
    }
    Turns._may_begin = lambda *_: True  # type: ignore[method-assign]
