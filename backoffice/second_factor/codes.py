"""Forms for the codes of an authenticator app, and for recovery codes."""

from __future__ import annotations

import logging
from typing import Any

from allauth.core import context
from allauth.mfa.adapter import get_adapter
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value, yield_hotp_counters_from_time
from django.db import transaction

from accounts.authentication import client_address
from accounts.rates import parse_rate
from accounts.sign_in import count_failure, refuse_too_many

logger = logging.getLogger(__name__)

# Three of a million codes are valid at a time, so guessing a code at this rate takes years.
PER_PERSON = parse_rate("20/hour")


class _CodeForm:
    """A form for a code of the second factor, with a limit for wrong codes.

    It accepts each code of an authenticator app only once, even if Redis fails.
    """

    user: Any
    cleaned_data: dict[str, object]
    authenticator: Authenticator

    def clean_code(self) -> str:
        """Return the code. Raises ValidationError for a wrong or used code, or after too many tries."""
        code = "".join(str(self.cleaned_data["code"]).split()).lower()
        address = client_address(context.request)
        attempt = f"second factors of operator {self.user.username!r} from {address}"
        rates = {f"second-factor:{self.user.pk}": PER_PERSON}
        refuse_too_many(rates, attempt)
        for authenticator in Authenticator.objects.filter(user=self.user).exclude(type="webauthn"):
            if _is_right(authenticator, code):
                self.authenticator = authenticator
                return code
        count_failure(rates)
        logger.warning("a second factor of operator %r from %s was wrong", self.user.username, address)
        raise get_adapter().validation_error("incorrect_code")


class SignInCodeForm(_CodeForm, AuthenticateForm):
    """The form of the second step of signing in."""


class ConfirmCodeForm(_CodeForm, ReauthenticateForm):
    """The form that confirms a sensitive change."""


def _is_right(authenticator: Authenticator, code: str) -> bool:
    if authenticator.type == Authenticator.Type.TOTP:
        return _use_app_code(authenticator, code)
    return bool(authenticator.wrap().validate_code(code))


def _use_app_code(authenticator: Authenticator, code: str) -> bool:
    """Accept a current code that is newer than the last used code, and store it as the last used code."""
    secret = get_adapter().decrypt(authenticator.data["secret"])
    fitting = [
        step
        for step in yield_hotp_counters_from_time()
        if format_hotp_value(hotp_value(secret, step)) == code
    ]
    if not fitting:
        return False
    with transaction.atomic():
        stored = Authenticator.objects.select_for_update().get(pk=authenticator.pk)
        if max(fitting) <= stored.data.get("last_step", 0):
            return False
        stored.data["last_step"] = max(fitting)
        stored.save(update_fields=["data"])
    authenticator.data = stored.data
    return True
