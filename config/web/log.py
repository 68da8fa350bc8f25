"""Formats gunicorn's log lines like all other log lines of the service."""

from __future__ import annotations

import logging.config
from typing import Any

from django.conf import settings
from gunicorn.glogging import Logger


class Log(Logger):
    """Leaves formats and streams to the settings' LOGGING."""

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        for log in (self.error_log, self.access_log):
            log.handlers.clear()
            log.propagate = True
        logging.config.dictConfig(settings.LOGGING)
