from django.apps import AppConfig
from django.conf import settings
from django.core import checks

from accounts.rates import parse_rate


class AccountsConfig(AppConfig):
    name = "accounts"

    def ready(self) -> None:
        # Import here: models are not loaded before ready().
        from accounts.models.party import validate_currency
        from accounts.operating.second_operator import check_names

        checks.register(check_names)
        # Parse the rates now: a wrong setting then stops the start, instead of failing each request.
        parse_rate(settings.RATE_LIMIT)
        parse_rate(settings.FAILED_KEYS_LIMIT)
        validate_currency(settings.CURRENCY)
