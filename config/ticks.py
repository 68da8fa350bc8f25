"""The periodic tasks, which Celery beat starts, and the queues of tasks.

A tick is the start of a periodic task. The task looks for work in a table, so a missed tick does no harm. A
tick expires when the next tick is due, so that old ticks do not fill the queue.
"""

from __future__ import annotations

from typing import Any

from celery.schedules import schedule

# The task and its interval in seconds, by the name of the tick.
TICKS = {
    "sweep-imports": ("imports.tasks.sweep", 5.0),
    "publish-events": ("events.tasks.publish", 5.0),
    "keep-up-webhooks": ("events.tasks.keep_up_webhooks", 600.0),
    "serve-waiting": ("orders.tasks.serve_waiting", 30.0),
    "announce-restock-dates": ("orders.tasks.announce_restock_dates", 60.0),
    "wake-reconcile": ("orders.tasks.wake_reconcile", 600.0),
    "end-waits": ("orders.tasks.end_waits", 60.0),
    "answer-cancelations": ("fulfillments.tasks.answer_cancelations", 30.0),
    "add-up-days": ("fulfillments.tasks.add_up_days", 60.0),
    "send-digests": ("backoffice.tasks.send_digests", 300.0),
    "sweep-messages": ("backoffice.tasks.sweep_messages", 30.0),
    "send-notices": ("backoffice.tasks.send_notices", 60.0),
    "send-notifications": ("portal.tasks.send_notifications", 60.0),
    "end-suspensions": ("backoffice.tasks.end_suspensions", 60.0),
    "take-snapshot": ("catalog.tasks.take_pulse", 5.0),
    "thin-snapshots": ("catalog.tasks.thin_pulses", 3600.0),
    "erase-old": ("orders.tasks.erase_old", 60.0),
    "count-waiting": ("backoffice.tasks.count", 10.0),
    "sum-market": ("backoffice.tasks.sum_market", 60.0),
    "forget": ("backoffice.tasks.forget", 60.0),
    "collect-blobs": ("sftp_ingest.tasks.collect", 60.0),
    "keep-stock-ledger": ("inventory.tasks.keep_ledger", 3600.0),
    "sweep-simulations": ("fulfillments.tasks.sweep_simulations", 5.0),
    "sweep-operators-actions": ("accounts.tasks.sweep_operator_actions", 5.0),
    "expire-idempotency-keys": ("accounts.tasks.expire", 3600.0),
}

# The tasks below and the ticks have other queues than imports, so that these tasks never wait behind imports
# (ADR 60). The tasks fetch files from remote hosts, send messages, or work for operators.
TASK_ROUTES = {
    "imports.tasks.fetch": {"queue": "fetch"},
    "accounts.tasks.run_operator_action": {"queue": "operators"},
    "backoffice.tasks.send_message": {"queue": "fetch"},
    "fulfillments.tasks.run_simulation": {"queue": "operators"},
    "imports.tasks.read_draft": {"queue": "operators"},
}


def beat_schedule() -> dict[str, Any]:
    """Return the ticks in the form of CELERY_BEAT_SCHEDULE."""
    return {
        name: {"task": task, "schedule": schedule(every), "options": {"queue": "ticks", "expires": every}}
        for name, (task, every) in TICKS.items()
    }
