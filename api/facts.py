"""The registry of facts about the service for /metrics. Each app registers its questions in `ready()`.

A question is a function that gets a database cursor and returns samples. Each statement of a question must
use an index and count at most MOST rows: an exact count of more rows is not needed, and would take too long.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from django.db import DatabaseError, InterfaceError, connection, transaction

logger = logging.getLogger(__name__)

MOST = 10_000
TIMEOUT = "2s"
"""The time limit of a statement. A question with a slower statement fails."""


@dataclass(frozen=True)
class MetricSample:
    """A number with the name of its metric and its labels."""

    name: str
    value: float
    labels: tuple[str, ...] = ()


Question = Callable[[Any], Iterable[MetricSample]]
_questions: list[Question] = []


def register(*questions: Question) -> None:
    _questions.extend(question for question in questions if question not in _questions)


def all_facts() -> tuple[list[MetricSample], list[str]]:
    """Return the samples of all questions, and the names of the questions that failed."""
    samples: list[MetricSample] = []
    failed: list[str] = []
    for question in _questions:
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(f"SET LOCAL statement_timeout = '{TIMEOUT}'")
                samples += question(cursor)
                cursor.execute("SET LOCAL statement_timeout TO DEFAULT")
        except (DatabaseError, InterfaceError) as error:
            logger.warning("metrics: the question %s failed: %s", question.__name__, error)
            failed.append(question.__name__)
    return samples, failed


def age(row: tuple[Any, ...] | None) -> float:
    """Return the age in a row's first column, or 0 if there is no row or no age."""
    return max(0.0, float(row[0])) if row and row[0] is not None else 0.0


def database(cursor: Any) -> Iterable[MetricSample]:
    cursor.execute(
        "SELECT (SELECT sum(numbackends) FROM pg_stat_database), current_setting('max_connections')::int,"
        " pg_database_size(current_database())"
    )
    used, most, size = cursor.fetchone()
    yield MetricSample("exchange_database_connections", float(used))
    yield MetricSample("exchange_database_connections_limit", most)
    yield MetricSample("exchange_database_size_bytes", size)


register(database)
