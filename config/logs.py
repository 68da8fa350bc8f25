"""Filters and formatters of log lines: they add the request and the party, and remove secrets."""

from __future__ import annotations

import json
import logging
import re
from datetime import UTC, datetime
from typing import ClassVar

from api.request_id import current_party, current_request_id

# The DETAIL of a PostgreSQL error quotes the values of the refused row, such as names and addresses.
QUOTED_ROW = re.compile(r"^DETAIL:.*?(?=\n\n(?:The above|During handling)|\Z)", re.MULTILINE | re.DOTALL)
PROBES = ("/healthz", "/readyz", "/statusz", "/metrics")
BEARER = re.compile(r"\bfx[kt]_[0-9a-f]{12}_[\w-]+|\b(Bearer|Basic) +[\w.~+/=-]+", re.IGNORECASE)


def redact(text: str) -> str:
    """Remove secrets, and the rows that PostgreSQL quotes in errors, from a text."""
    return BEARER.sub("[secret]", QUOTED_ROW.sub("DETAIL: [left out]", text))


class ContextFilter(logging.Filter):
    """A filter that adds request_id and party to each record, and renames gunicorn's log."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name == "gunicorn.error":  # gunicorn's name for all lines except the access log
            record.name = "gunicorn"
        record.request_id = current_request_id()
        record.party = current_party()
        return True


class ProbeFilter(logging.Filter):
    """A filter that drops Django's errors about health probes: 503 is a normal answer of /readyz."""

    def filter(self, record: logging.LogRecord) -> bool:
        request = getattr(record, "request", None)
        return request is None or request.path not in PROBES


class LineFormatter(logging.Formatter):
    """A formatter for readable lines: time, level, logger, message, party and request."""

    default_msec_format = "%s.%03d"

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        context = " ".join(
            f"{name}={value}" for name in ("party", "request_id") if (value := getattr(record, name, ""))
        )
        first, newline, rest = redact(text).partition("\n")
        return f"{first} {context}".rstrip() + newline + rest


class JsonFormatter(logging.Formatter):
    """A formatter for log collectors: one JSON object per line."""

    FIELDS: ClassVar = (
        "party",
        "request_id",
        "method",
        "route",
        "status",
        "ms",
        "import_id",
        "kind",
        "rows",
        "rejected",
        "seconds",
    )

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": redact(record.getMessage()),
        }
        for name in self.FIELDS:
            value = getattr(record, name, "")
            if value != "":
                line[name] = value
        if record.exc_info:
            line["exception"] = redact(self.formatException(record.exc_info))
        return json.dumps(line)
