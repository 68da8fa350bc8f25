"""Adapters of allauth: they decide about sign-ins, redirects after sign-ins, and the storage of secrets."""

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
from django.urls import reverse

from accounts.authentication import client_address
from accounts.encryption import decrypt, encrypt
from accounts.sign_in import count_failure, refuse_too_many, sign_in_rates
from portal.visitors import PATH as PORTAL

logger = logging.getLogger(__name__)

ASKED_AGAIN_AFTER = 300.0  # seconds


class AccountAdapter(DefaultAccountAdapter):
    """The adapter of sign-ins to the admin and to the portal. No one can sign up."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def get_login_stages(self) -> list[str]:
        return ["allauth.mfa.stages.AuthenticateStage"]

    def pre_login(self, request: HttpRequest, user: User, **kwargs: object) -> HttpResponse | None:
        """Refuse inactive users, members at the admin's sign-in, and operators at the portal's sign-in."""
        in_portal = request.path.startswith(PORTAL)
        if user.is_active and user.is_staff != in_portal:
            return None
        if in_portal:
            return turned_away(request, "This account belongs to no member. Sign in at the admin.")
        return turned_away(
            request, "This account is not an active operator. Ask an administrator for access."
        )

    def login(self, request: HttpRequest, user: User) -> None:
        login(request, user, backend="django.contrib.auth.backends.ModelBackend")

    def post_login(
        self, request: HttpRequest, user: User, *, redirect_url: str | None, **kwargs: object
    ) -> HttpResponse:
        return HttpResponseRedirect(redirect_url or self.get_login_redirect_url(request))

    def get_login_redirect_url(self, request: HttpRequest) -> str:
        in_portal = request.path.startswith(PORTAL)
        return reverse("portal:today") if in_portal else resolve_url(settings.LOGIN_REDIRECT_URL)

    def is_reauthentication_required(self, **_: object) -> bool:
        """Return whether the last sign-in is too old for a sensitive change."""
        request = context.request
        steps = get_authentication_records(request, request.user)
        return not any(time.time() - step["at"] < ASKED_AGAIN_AFTER for step in steps)

    def reauthenticate(self, user: User, password: str) -> bool:
        """Check the password again. Raises ValidationError after too many failed sign-ins."""
        name, address = user.get_username(), client_address(self.request) if self.request else ""
        rates = sign_in_rates(name, address)
        refuse_too_many(rates, f"sign-ins of {name!r} from {address}")
        is_right = user.check_password(password)
        if not is_right:
            count_failure(rates)
        return is_right

    def send_mail(self, template_prefix: str, email: str, context: dict[str, object]) -> None:
        """Send a mail. A failure is only logged: an error page would reveal that the account exists."""
        try:
            super().send_mail(template_prefix, email, context)
        except Exception:  # mail backends raise many kinds of errors
            logger.exception("the mail %s was not sent", template_prefix)

    def send_notification_mail(self, *args: object, **kwargs: object) -> None:
        """Send no mail: events record the changes of second factors."""


class SecondFactorAdapter(DefaultMFAAdapter):
    """The adapter of second factors. It encrypts the secrets of factors like all other stored secrets."""

    error_messages = {
        **DefaultMFAAdapter.error_messages,
        "incorrect_code": "This code is wrong or was already used. Wait for the next code.",
    }

    def encrypt(self, text: str) -> str:
        return encrypt(text)

    def decrypt(self, encrypted_text: str) -> str:
        return decrypt(encrypted_text)

    def get_totp_issuer(self) -> str:
        return "The Exchange"


class OpenIdAdapter(DefaultSocialAccountAdapter):
    """The adapter of sign-ins by an identity provider. It finds the operator by a verified address."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        return False

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Connect the account to the operator with the same e-mail address. Never create an operator."""
        if sociallogin.is_existing:
            return
        verified = [each.email for each in sociallogin.email_addresses if each.verified and each.email]
        operators = User.objects.filter(is_staff=True, is_active=True)
        found = list(operators.filter(email__iexact=verified[0])) if verified else []
        if len(found) != 1:
            logger.warning("a sign-in from %s matches no operator", client_address(request))
            refusal = turned_away(
                request,
                "No operator has the e-mail address of your account. Ask an administrator for access.",
            )
            raise ImmediateHttpResponse(refusal)
        sociallogin.connect(request, found[0])

    def on_authentication_error(self, request: HttpRequest, provider: Any, *args: Any, **kwargs: Any) -> None:
        logger.warning("a sign-in by %s from %s failed", provider.name, client_address(request))
        raise ImmediateHttpResponse(
            turned_away(request, f"{provider.name} did not confirm your sign-in. Try again.")
        )


def turned_away(request: HttpRequest, why: str) -> HttpResponse:
    """Redirect to the sign-in page, which shows the reason."""
    messages.error(request, why)
    return HttpResponseRedirect(resolve_url(settings.LOGIN_URL))
