"""Functions that suspend and resume the new trade of a supplier, a retailer or a partnership."""

from __future__ import annotations

from datetime import date
from typing import Any, TypeAlias

from django.db import connection, transaction
from django.utils import timezone

from accounts.actors import Actor
from accounts.models import Partnership, Retailer, Supplier, Suspension
from api.errors import ApiError, Invalid
from catalog.snapshot import take_snapshot_after_commit
from events.models import ACCOUNTS
from events.recording import record

Subject: TypeAlias = Supplier | Retailer | Partnership

AT_ONCE = 100
"""The maximum number of suspensions that one run ends. The next run comes within a minute."""

# Correct wrong values of `is_trading`: a partnership that was created at the moment of a suspension may have
# missed the suspension. The update fires the trigger that computes the column.
MISSED = """
    UPDATE accounts_partnership p SET is_trading = is_trading
    WHERE p.is_trading = (NOT p.is_active OR EXISTS (
        SELECT FROM accounts_suspension s WHERE s.ended_at IS NULL AND (
            s.partnership_id = p.id OR s.supplier_id = p.supplier_id OR s.retailer_id = p.retailer_id)))
"""


class SuspendedAlready(ApiError):
    code, status = "suspended_already", 409


def suspend(
    subject: Subject, *, reason: str, until: date | None, by: Actor, shown_reason: str = ""
) -> Suspension:
    """Stop new trade until a day (UTC), or until an operator resumes it. Open work continues.

    Only operators see `reason`; the members of a suspended party see `shown_reason`.
    Raises SuspendedAlready, and Invalid for a day that has begun.
    """
    if until is not None and until <= timezone.now().date():
        raise Invalid.at("until", "This day has begun. Name a later day: trade resumes when it begins (UTC).")
    with transaction.atomic():
        kind = type(subject)
        kind._base_manager.select_for_update(no_key=True).get(pk=subject.pk)
        if Suspension.objects.in_force().about(subject).exists():
            raise SuspendedAlready(f"{subject} is already suspended. Resume it first.")
        before = _trading(subject)
        suspension = Suspension(
            **{_name(subject): subject},
            reason=reason,
            shown_reason=shown_reason,
            until=until,
            started_by=by.name,
        )
        suspension.save(force_insert=True)
        data = {"reason": reason, "until": until and until.isoformat()}
        _record(subject, "suspended", before - _trading(subject), data, by=by)
    return suspension


def resume(suspension: Suspension, *, by: Actor) -> bool:
    """End a suspension. Return False if it had already ended."""
    with transaction.atomic():
        locked = Suspension.objects.select_for_update(of=("self",)).get(pk=suspension.pk)
        if locked.ended_at is not None:
            return False
        subject = locked.subject
        before = _trading(subject)
        locked.ended_at, locked.ended_by = timezone.now(), by.name
        locked.save(update_fields=["ended_at", "ended_by"])
        _record(subject, "resumed", _trading(subject) - before, {"suspension_id": locked.pk}, by=by)
    return True


def end_expired() -> int:
    """End the suspensions that have reached their `until` day. Return how many have ended.

    Also correct `is_trading` of partnerships that missed a suspension.
    """
    with connection.cursor() as cursor:
        cursor.execute(MISSED)
    over = Suspension.objects.over_on(timezone.now().date())
    by = Actor.system("suspension")
    return sum(resume(each, by=by) for each in over.order_by("until", "id")[:AT_ONCE])


def in_force_for(subject: Subject) -> Suspension | None:
    """Return the current suspension of the subject itself. Ignore suspensions of the subject's partners."""
    return Suspension.objects.in_force().about(subject).first()


def _name(subject: Subject) -> str:
    return "partnership" if isinstance(subject, Partnership) else subject.role.value


def _trading(subject: Subject) -> set[int]:
    """Return the ids of the subject's trading partnerships."""
    mine = {"pk": subject.pk} if isinstance(subject, Partnership) else {_name(subject): subject}
    return set(Partnership.objects.trading().filter(**mine).values_list("pk", flat=True))


def _record(subject: Subject, change: str, changed: set[int], data: dict[str, Any], *, by: Actor) -> None:
    """Record an event of the subject, with the reason.

    For each changed partnership, record another event, without the reason, because both of its parties can
    read this event.
    """
    name = _name(subject)
    parties = (
        {"supplier": subject.supplier, "retailer": subject.retailer}
        if isinstance(subject, Partnership)
        else {name: subject}
    )
    about = {f"{name}_id": subject.pk, "name": str(subject), **data}
    record(f"{name}.{change}", by=by, area=ACCOUNTS, data=about, **parties)
    shared = {"until": data["until"]} if "until" in data else {}
    for each in Partnership.objects.filter(pk__in=changed).select_related("supplier", "retailer"):
        record(
            f"trade.{change}",
            by=by,
            area="catalog",
            supplier=each.supplier,
            retailer=each.retailer,
            data={"supplier_id": each.supplier_id, "retailer_id": each.retailer_id, **shared},
        )
    take_snapshot_after_commit()
