"""Retention rules: old rows are deleted in small windows.

Each run checks one window of rows by id. The window begins at the oldest row or at a random row, so that rows
that must stay do not block later rows. No run reads a whole table, and locks are short.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from fulfillments.states import sql
from imports.states import UNFINISHED, Status
from orders.processing_state import FINISHED

logger = logging.getLogger(__name__)

WINDOW = 2_000

NOT_ENDED = ", ".join(f"'{status}'" for status in (*UNFINISHED, Status.AWAITING_APPROVAL))
# Keep the newest event of the feed: the next event number is derived from it.
UNREFERENCED = (
    "t.order_id IS NULL AND t.number < (SELECT max(number) FROM events_event)"
    " AND NOT EXISTS (SELECT FROM events_delivery d WHERE d.event_id = t.number)"
)


@dataclass(frozen=True)
class RetentionRule:
    """A rule that deletes old rows of a table.

    `setting` names the setting with the number of days. `old` is the SQL condition for the deletion of a row
    `t`. In this condition, `%(before)s` is the moment `days` days ago.
    """

    name: str
    table: str
    setting: str
    old: str
    window: int = WINDOW

    @property
    def days(self) -> int:
        return int(getattr(settings, self.setting))


# The order matters: dependent rows are deleted before the rows that they refer to.
RULES = (
    RetentionRule(
        "rejected rows of imports",
        "imports_reject",
        "REJECT_DAYS",
        f"EXISTS (SELECT FROM imports_importjob j WHERE j.id = t.job_id AND j.status NOT IN ({NOT_ENDED})"
        " AND j.finished_at < %(before)s)",
    ),
    RetentionRule(
        "imports",
        "imports_importjob",
        "IMPORT_DAYS",
        f"t.finished_at < %(before)s AND t.status NOT IN ({NOT_ENDED})"  # noqa: S608 - built from constants
        " AND t.blob_id IS NULL AND NOT EXISTS (SELECT FROM imports_reject r WHERE r.job_id = t.id)"
        " AND NOT EXISTS (SELECT FROM imports_importdraft_jobs d WHERE d.importjob_id = t.id)",
    ),
    RetentionRule(
        "uploads with a newer version",
        "sftp_ingest_upload",
        "UPLOAD_DAYS",
        "t.uploaded_at < %(before)s AND t.swept_at IS NOT NULL AND EXISTS (SELECT FROM sftp_ingest_upload u"
        " WHERE u.supplier_id = t.supplier_id AND u.path = t.path AND u.id > t.id)",
    ),
    RetentionRule(
        "routing decisions",
        "fulfillments_routingdecision",
        "DECISION_DAYS",
        "t.decided_at < %(before)s AND EXISTS (SELECT FROM orders_order o WHERE o.id = t.order_id"
        f" AND o.processing_state IN ({sql(*FINISHED)}))",
    ),
    RetentionRule(
        "routing simulations",
        "fulfillments_routingsimulation",
        "SIMULATION_DAYS",
        "t.finished_at < %(before)s",
    ),
    RetentionRule(
        "daily sums of suppliers", "fulfillments_dailysum", "SCORECARD_DAYS", "t.day < (%(before)s)::date"
    ),
    RetentionRule(
        "changes of variants",
        "catalog_variantchange",
        "VARIANT_CHANGE_DAYS",
        "t.occurred_at < %(before)s",
        window=20_000,
    ),
    RetentionRule(
        "events without an order",
        "events_event",
        "EVENT_DAYS",
        f"t.occurred_at < %(before)s AND t.area <> 'accounts' AND {UNREFERENCED}",
        window=20_000,
    ),
    RetentionRule(
        "events on accounts",
        "events_event",
        "ADMIN_LOG_DAYS",
        f"t.occurred_at < %(before)s AND t.area = 'accounts' AND {UNREFERENCED}",
        window=20_000,
    ),
    RetentionRule(
        "links between imports and their corrections",
        "imports_correction",
        "IMPORT_DAYS",
        "NOT EXISTS (SELECT FROM imports_importjob j WHERE j.id IN (t.job_id, t.original_id))",
    ),
    RetentionRule(
        "entries of the admin's log", "django_admin_log", "ADMIN_LOG_DAYS", "t.action_time < %(before)s"
    ),
    RetentionRule(
        "comments on records",
        "backoffice_recordcomment",
        "ADMIN_LOG_DAYS",
        "t.created_at < %(before)s",
    ),
    RetentionRule(
        "rows of operators' actions",
        "accounts_operatoractionrow",
        "ADMIN_LOG_DAYS",
        "EXISTS (SELECT FROM accounts_operatoraction a"
        " WHERE a.id = t.action_id AND a.finished_at < %(before)s)",
    ),
    RetentionRule(
        "operators' actions",
        "accounts_operatoraction",
        "ADMIN_LOG_DAYS",
        "t.finished_at < %(before)s"
        " AND NOT EXISTS (SELECT FROM accounts_operatoractionrow r WHERE r.action_id = t.id)"
        " AND NOT EXISTS (SELECT FROM accounts_operatoraction u WHERE u.undoes_id = t.id)",
    ),
)

# Delete expired sessions; SESSION_DAYS sets their lifetime.
END_SESSIONS = """
    DELETE FROM django_session WHERE session_key IN (
        SELECT session_key FROM django_session WHERE expire_date < now() ORDER BY expire_date LIMIT %(window)s
    )
"""


def prune() -> dict[str, int]:
    """Prune one window of each table. Return the number of deleted rows by rule name."""
    return {name: gone for name, gone in _prune() if gone}


def _prune() -> Iterator[tuple[str, int]]:
    for rule in RULES:
        if rule.days <= 0:
            continue  # 0 days: keep forever
        try:
            yield rule.name, _remove(rule)
        except DatabaseError:
            logger.exception("%s could not be pruned", rule.name)
    with connection.cursor() as cursor:
        cursor.execute(END_SESSIONS, {"window": WINDOW})
        yield "sessions", cursor.rowcount


def _remove(rule: RetentionRule) -> int:
    before = timezone.now() - timedelta(days=rule.days)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"SELECT min(id), max(id) FROM {rule.table}")  # noqa: S608 - built from constants
        first, last = cursor.fetchone()
        if first is None:
            return 0
        start = first if secrets.randbelow(2) else first + secrets.randbelow(last - first + 1)
        cursor.execute(
            f"DELETE FROM {rule.table} t USING (SELECT id FROM {rule.table} WHERE id >= %(start)s"  # noqa: S608 - built from constants
            f" ORDER BY id LIMIT %(window)s) w WHERE t.id = w.id AND {rule.old}",
            {"start": start, "window": rule.window, "before": before},
        )
        return int(cursor.rowcount)
