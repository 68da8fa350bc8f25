"""What allauth asks us: who may come in, where to, and how secrets are kept."""

from __future__ import annotations

import logging
import time
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.flows.login import get_authentication_records
from allauth.core import context
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialLogin
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import resolve_url

from accounts.authentication import client_address
from accounts.encryption import decrypt, encrypt
from backoffice.sign_in import count_try

logger = logging.getLogger(__name__)

ASKED_AGAIN_AFTER = 300.0  # seconds


class AccountAdapter(DefaultAccountAdapter):
    """Operators sign in, by whichever way; nobody signs up, and no mail is sent."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def get_login_stages(self) -> list[str]:
        return ["allauth.mfa.stages.AuthenticateStage"]

    def pre_login(self, request: HttpRequest, user: User, **kwargs: Any) -> HttpResponse | None:
        """Whoever has left, or never was an operator, goes no further, whatever he holds."""
        if user.is_active and user.is_staff:
            return None
        return turned_away(request, "This account may not sign in here.")

    def login(self, request: HttpRequest, user: User) -> None:
        login(request, user, backend="django.contrib.auth.backends.ModelBackend")

    def post_login(
        self, request: HttpRequest, user: User, *, redirect_url: str | None, **kwargs: Any
    ) -> HttpResponse:
        return HttpResponseRedirect(redirect_url or resolve_url(settings.LOGIN_REDIRECT_URL))

    def is_reauthentication_required(self, **_: Any) -> bool:
        """Ask again before something that matters, unless every step was taken a moment ago."""
        request = context.request
        steps = get_authentication_records(request, request.user)
        return not any(time.time() - step["at"] < ASKED_AGAIN_AFTER for step in steps)

    def reauthenticate(self, user: User, password: str) -> bool:
        """Look at a password again, as slowly as at sign-in. Raises ValidationError after too many tries."""
        count_try(user.get_username(), client_address(self.request) if self.request else "")
        return user.check_password(password)

    def send_notification_mail(self, *args: Any, **kwargs: Any) -> None:
        """No mail: what became of a second factor stands in the history."""


class SecondFactorAdapter(DefaultMFAAdapter):
    """Keeps the keys of second factors as other secrets that must be read again are kept."""

    error_messages = {
        **DefaultMFAAdapter.error_messages,
        "incorrect_code": "This code is not right, or was used before. Wait for the next one.",
    }

    def encrypt(self, text: str) -> str:
        return encrypt(text)

    def decrypt(self, encrypted_text: str) -> str:
        return decrypt(encrypted_text)

    def get_totp_issuer(self) -> str:
        return "The Exchange"


class OpenIdAdapter(DefaultSocialAccountAdapter):
    """Somebody whom another service vouches for: an operator by the address that it has verified."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        return False

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Tie the account to the operator with this address, the first time. Nobody is made here."""
        if sociallogin.is_existing:
            return
        verified = [each.email for each in sociallogin.email_addresses if each.verified and each.email]
        operators = User.objects.filter(is_staff=True, is_active=True)
        found = list(operators.filter(email__iexact=verified[0])) if verified else []
        if len(found) != 1:
            logger.warning("a sign-in from %s is of no operator", client_address(request))
            refusal = turned_away(request, "No operator has the e-mail address that your account is for.")
            raise ImmediateHttpResponse(refusal)
        sociallogin.connect(request, found[0])

    def on_authentication_error(self, request: HttpRequest, provider: Any, *args: Any, **kwargs: Any) -> None:
        logger.warning("a sign-in by %s from %s failed", provider.name, client_address(request))
        raise ImmediateHttpResponse(turned_away(request, f"{provider.name} did not let you in. Try again."))


def turned_away(request: HttpRequest, why: str) -> HttpResponse:
    """Back to the sign-in page, which says why."""
    messages.error(request, why)
    return HttpResponseRedirect(resolve_url(settings.LOGIN_URL))
