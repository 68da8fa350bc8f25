"""Codes typed at sign-in: from an app on a phone, or from the list of recovery codes."""

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
from backoffice.sign_in import refuse_too_many

logger = logging.getLogger(__name__)

# Three of a million codes are right at a time: whoever knows the password finds one in some years.
PER_PERSON = parse_rate("20/hour")


class _CodeForm:
    """Counts each try; a code of the app counts once, whatever becomes of Redis."""

    user: Any
    cleaned_data: dict[str, Any]
    authenticator: Authenticator

    def clean_code(self) -> str:
        """The code. Raises ValidationError where it is wrong, was used, or too many were tried."""
        code = "".join(str(self.cleaned_data["code"]).split()).lower()
        address = client_address(context.request)
        what = f"second factors of operator {self.user.username!r} from {address}"
        refuse_too_many({f"second-factor:{self.user.pk}": PER_PERSON}, what)
        for authenticator in Authenticator.objects.filter(user=self.user).exclude(type="webauthn"):
            if _is_right(authenticator, code):
                self.authenticator = authenticator
                return code
        logger.warning("a second factor of operator %r from %s was wrong", self.user.username, address)
        raise get_adapter().validation_error("incorrect_code")


class SignInCodeForm(_CodeForm, AuthenticateForm):
    """The second step of signing in."""


class ConfirmCodeForm(_CodeForm, ReauthenticateForm):
    """Asked once more before something that matters."""


def _is_right(authenticator: Authenticator, code: str) -> bool:
    if authenticator.type == Authenticator.Type.TOTP:
        return _use_app_code(authenticator, code)
    return bool(authenticator.wrap().validate_code(code))


def _use_app_code(authenticator: Authenticator, code: str) -> bool:
    """Whether it is a code of now, and later than the last one that was used; then it is the last one."""
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
