from django.apps import AppConfig
from django.conf import settings

from accounts.rates import parse_rate


class AccountsConfig(AppConfig):
    name = "accounts"

    def ready(self) -> None:
        parse_rate(settings.RATE_LIMIT)  # a wrong setting must stop the start, not every request
        parse_rate(settings.FAILED_KEYS_LIMIT)
