"""The sign-in to the admin and to the portal. Wrong tries are limited per user name and per IP address."""

from __future__ import annotations

import logging

from allauth.account.internal.flows.login import perform_password_login
from allauth.account.models import Login
from allauth.mfa.models import Authenticator
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import AnonymousUser
from django.contrib.auth.views import LoginView
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from limits import RateLimitItem

from accounts.authentication import client_address
from accounts.rates import counter, parse_rate
from api.client_networks import network_of

logger = logging.getLogger(__name__)

Rates = dict[str, RateLimitItem | None]
"""The limits of wrong tries. Each limit has a name, under which Redis counts the tries."""

# A person who mistypes needs a few tries. An office with one IP address for many people needs more tries.
# FOR_NAME is high, because an attacker at other addresses could use up this limit and lock the person out.
FOR_NAME_FROM_ADDRESS = parse_rate("10/hour")
FROM_ADDRESS = parse_rate("60/hour")
FOR_NAME = parse_rate("200/hour")


# Recovery codes replace a lost device, so they alone are no second factor.
FACTORS = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)


class LimitedSignInForm(AuthenticationForm):
    """A sign-in form with limited tries."""

    def clean(self) -> dict[str, object]:
        """Check the limits, then the password. Count only wrong passwords. Raises ValidationError."""
        name = str(self.cleaned_data.get("username", ""))[:150]
        address = client_address(self.request) if self.request else ""
        rates = sign_in_rates(name, address)
        refuse_too_many(rates, f"sign-ins of {name!r} from {address}")
        try:
            return super().clean()
        except ValidationError:
            count_failure(rates)
            logger.warning("a sign-in of %r from %s failed", name, address)
            raise


def sign_in_rates(name: str, address: str) -> Rates:
    """Return the limits on wrong passwords for the user name and the IP address.

    All IPv6 addresses of a /64 network count as one address, because they all belong to one subscriber.
    """
    network = network_of(address)
    return {
        f"sign-in:{name}:{network}": FOR_NAME_FROM_ADDRESS,
        f"sign-in:{network}": FROM_ADDRESS,
        f"sign-in-of:{name}": FOR_NAME,
    }


def count_failure(rates: Rates) -> None:
    """Count one failed try for each rate. Call this only for failed tries."""
    for key, rate in rates.items():
        if rate:
            counter().hit(rate, key)


def refuse_too_many(rates: Rates, attempt: str) -> None:
    """Raise ValidationError and log `attempt` if a rate has no tries left."""
    counts = [counter().look(rate, key) for key, rate in rates.items() if rate]
    waits = [count.reset for count in counts if count is not None and not count.allowed]
    if waits:
        logger.warning("%s are rate-limited", attempt)
        minutes = max(waits) // 60 + 1
        raise ValidationError(f"Too many tries. Try again in {minutes} minutes.", code="throttled")


class SignInView(LoginView):
    """The password step of signing in. allauth decides about further steps and the redirect."""

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        return sign_in(self.request, form.get_user(), self.get_success_url())


def sign_in(request: HttpRequest, user: AbstractBaseUser, after: str) -> HttpResponse:
    """Sign in a user whose password was checked. If there is a second factor, allauth first asks for it."""
    begun = Login(user=user, redirect_url=after)
    answer: HttpResponse = perform_password_login(request, {"username": user.get_username()}, begun)
    return answer


def has_second_factor(user: AbstractBaseUser | AnonymousUser) -> bool:
    return bool(Authenticator.objects.filter(user_id=user.pk, type__in=FACTORS).exists())
