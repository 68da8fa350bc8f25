"""gunicorn's logger, with the log format of the service."""

from __future__ import annotations

import logging.config

from django.conf import settings
from gunicorn.glogging import Logger


class Log(Logger):
    """A logger of gunicorn that leaves formats and streams to the settings' LOGGING."""

    def setup(self, cfg: object) -> None:
        super().setup(cfg)
        for log in (self.error_log, self.access_log):
            log.handlers.clear()
            log.propagate = True
        logging.config.dictConfig(settings.LOGGING)
