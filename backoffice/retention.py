"""How long what nobody asks for any more is kept: removed piece by piece, a bounded number of rows at a time.

A window of so many rows is looked at, in the order of their numbers: now the oldest, now any. So what has to
stay longer than its neighbours never keeps the others from their turn, no table is read through, and no lock
is held for long.
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

from imports.states import UNFINISHED, Status

logger = logging.getLogger(__name__)

WINDOW = 2_000

NOT_ENDED = ", ".join(f"'{status}'" for status in (*UNFINISHED, Status.AWAITING_APPROVAL))
# Who is the last of the feed stays: the next number follows its.
NEEDED_BY_NOBODY = (
    "t.order_id IS NULL AND t.number < (SELECT max(number) FROM events_event)"
    " AND NOT EXISTS (SELECT FROM events_delivery d WHERE d.event_id = t.number)"
)


@dataclass(frozen=True)
class Rule:
    """What of a table goes so many days later: `old` is a condition of a row `t` and of `%(before)s`."""

    name: str
    table: str
    setting: str
    old: str
    window: int = WINDOW

    @property
    def days(self) -> int:
        return int(getattr(settings, self.setting))


# In this order: what hangs on a row goes before it.
RULES = (
    Rule(
        "rejected rows of imports",
        "imports_reject",
        "REJECT_DAYS",
        f"EXISTS (SELECT FROM imports_importjob j WHERE j.id = t.job_id AND j.status NOT IN ({NOT_ENDED})"
        " AND j.finished_at < %(before)s)",
    ),
    Rule(
        "imports",
        "imports_importjob",
        "IMPORT_DAYS",
        f"t.finished_at < %(before)s AND t.status NOT IN ({NOT_ENDED})"  # noqa: S608 - of constants
        " AND t.blob_id IS NULL AND NOT EXISTS (SELECT FROM imports_reject r WHERE r.job_id = t.id)"
        " AND NOT EXISTS (SELECT FROM imports_importdraft_jobs d WHERE d.importjob_id = t.id)",
    ),
    Rule(
        "uploads that were uploaded again since",
        "sftp_ingest_upload",
        "UPLOAD_DAYS",
        "t.uploaded_at < %(before)s AND t.swept_at IS NOT NULL AND EXISTS (SELECT FROM sftp_ingest_upload u"
        " WHERE u.supplier_id = t.supplier_id AND u.path = t.path AND u.id > t.id)",
    ),
    Rule(
        "reasons of routing",
        "fulfillments_routingdecision",
        "DECISION_DAYS",
        "t.decided_at < %(before)s AND EXISTS (SELECT FROM orders_order o WHERE o.id = t.order_id"
        " AND o.processing_state IN ('completed', 'canceled'))",
    ),
    Rule(
        "simulations of routing",
        "fulfillments_routingsimulation",
        "SIMULATION_DAYS",
        "t.finished_at < %(before)s",
    ),
    Rule("sums of suppliers' days", "fulfillments_dailysum", "SCORECARD_DAYS", "t.day < (%(before)s)::date"),
    Rule(
        "what of variants was changed when",
        "catalog_variantchange",
        "VARIANT_CHANGE_DAYS",
        "t.occurred_at < %(before)s",
        window=20_000,
    ),
    Rule(
        "events that are of no order",
        "events_event",
        "EVENT_DAYS",
        f"t.occurred_at < %(before)s AND t.area <> 'accounts' AND {NEEDED_BY_NOBODY}",
        window=20_000,
    ),
    Rule(
        "what operators did to parties, keys and each other",
        "events_event",
        "ADMIN_LOG_DAYS",
        f"t.occurred_at < %(before)s AND t.area = 'accounts' AND {NEEDED_BY_NOBODY}",
        window=20_000,
    ),
    Rule(
        "which import corrects rows of which",
        "imports_correction",
        "IMPORT_DAYS",
        "NOT EXISTS (SELECT FROM imports_importjob j WHERE j.id IN (t.job_id, t.original_id))",
    ),
    Rule("the admin's own log", "django_admin_log", "ADMIN_LOG_DAYS", "t.action_time < %(before)s"),
    Rule(
        "rows of operators' actions",
        "accounts_operatoractionrow",
        "ADMIN_LOG_DAYS",
        "EXISTS (SELECT FROM accounts_operatoraction a"
        " WHERE a.id = t.action_id AND a.finished_at < %(before)s)",
    ),
    Rule(
        "operators' actions",
        "accounts_operatoraction",
        "ADMIN_LOG_DAYS",
        "t.finished_at < %(before)s"
        " AND NOT EXISTS (SELECT FROM accounts_operatoractionrow r WHERE r.action_id = t.id)"
        " AND NOT EXISTS (SELECT FROM accounts_operatoraction u WHERE u.undoes_id = t.id)",
    ),
)

# Those that have ended; how long one lives is SESSION_DAYS.
END_SESSIONS = """
    DELETE FROM django_session WHERE session_key IN (
        SELECT session_key FROM django_session WHERE expire_date < now() ORDER BY expire_date LIMIT %(window)s
    )
"""


def prune() -> dict[str, int]:
    """Look at one window of each table; return how many rows of which kind went."""
    return {name: gone for name, gone in _prune() if gone}


def _prune() -> Iterator[tuple[str, int]]:
    for rule in RULES:
        if rule.days <= 0:
            continue  # kept for good
        try:
            yield rule.name, _remove(rule)
        except DatabaseError:
            logger.exception("%s could not be pruned", rule.name)
    with connection.cursor() as cursor:
        cursor.execute(END_SESSIONS, {"window": WINDOW})
        yield "sessions", cursor.rowcount


def _remove(rule: Rule) -> int:
    before = timezone.now() - timedelta(days=rule.days)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"SELECT min(id), max(id) FROM {rule.table}")  # noqa: S608 - of constants
        first, last = cursor.fetchone()
        if first is None:
            return 0
        start = first if secrets.randbelow(2) else first + secrets.randbelow(last - first + 1)
        cursor.execute(
            f"DELETE FROM {rule.table} t USING (SELECT id FROM {rule.table} WHERE id >= %(start)s"  # noqa: S608 - of constants
            f" ORDER BY id LIMIT %(window)s) w WHERE t.id = w.id AND {rule.old}",
            {"start": start, "window": rule.window, "before": before},
        )
        return int(cursor.rowcount)
