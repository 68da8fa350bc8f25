"""The settings of the service, with the bare views beside its paths."""

from config.settings import *  # noqa: F403

ROOT_URLCONF = "tools.bench.serving.urls"
