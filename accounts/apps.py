from django.apps import AppConfig
from django.conf import settings
from django.core import checks
from django.core.exceptions import ImproperlyConfigured

from accounts.rates import parse_rate
from api.wrong_settings import exit_with_sentence, named


class AccountsConfig(AppConfig):
    name = "accounts"

    def ready(self) -> None:
        # Import here: models are not loaded before ready().
        from accounts.operating.second_operator import check_names
        from api.currencies import CURRENCIES, UNKNOWN

        checks.register(check_names)
        # Check these settings now: a wrong value then stops the start, instead of failing each request.
        with exit_with_sentence():
            with named("RATE_LIMIT"):
                parse_rate(settings.RATE_LIMIT)
            with named("FAILED_KEYS_LIMIT"):
                parse_rate(settings.FAILED_KEYS_LIMIT)
            if settings.CURRENCY not in CURRENCIES:
                raise ImproperlyConfigured(f"CURRENCY: {settings.CURRENCY} {UNKNOWN}")
