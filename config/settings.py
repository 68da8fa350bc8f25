"""The settings of the Exchange (docs/running.md). A wrong value ends the process with one sentence."""

from api.wrong_settings import exit_with_sentence

with exit_with_sentence():
    from config.environment_settings import *  # noqa: F403
