"""Events of second factors: added, removed, renewed, reset by another operator."""

from __future__ import annotations

import logging

from allauth.mfa.models import Authenticator
from allauth.mfa.signals import authenticator_added, authenticator_removed, authenticator_reset
from django.contrib.auth.models import User
from django.db import transaction

from accounts.actors import Actor
from events.models import ACCOUNTS
from events.recording import record

logger = logging.getLogger(__name__)


def connect() -> None:
    """Connect to allauth's signals: allauth reports changes of second factors only by signals."""
    authenticator_added.connect(_added, dispatch_uid="backoffice.factor_added")
    authenticator_removed.connect(_removed, dispatch_uid="backoffice.factor_removed")
    authenticator_reset.connect(_renewed, dispatch_uid="backoffice.factor_renewed")


def reset(user: User, *, by: Actor, reason: str) -> bool:
    """Remove all second factors of a user. Return False if the user has no second factor."""
    with transaction.atomic():
        held = list(Authenticator.objects.filter(user=user).order_by("pk").select_for_update())
        if not held:
            return False
        Authenticator.objects.filter(pk__in=[each.pk for each in held]).delete()
        _record(
            "second_factor_reset", user, by=by, reason=reason, factors=sorted({each.type for each in held})
        )
    logger.warning("%s reset the second factors of operator %r", by, user.username)
    return True


def _added(user: User, authenticator: Authenticator, **_: object) -> None:
    _record("second_factor_added", user, by=Actor.of_user(user), factor=authenticator.type)


def _removed(user: User, authenticator: Authenticator, **_: object) -> None:
    _record("second_factor_removed", user, by=Actor.of_user(user), factor=authenticator.type)


def _renewed(user: User, authenticator: Authenticator, **_: object) -> None:
    _record("recovery_codes_renewed", user, by=Actor.of_user(user))


def _record(what: str, user: User, *, by: Actor, **data: object) -> None:
    with transaction.atomic():
        record(f"operator.{what}", by=by, area=ACCOUNTS, data={"operator": user.get_username(), **data})
