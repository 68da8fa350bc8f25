from django.apps import AppConfig
from django.db.models.signals import post_migrate

from backoffice.app_names import name_apps


class BackofficeConfig(AppConfig):
    name = "backoffice"

    def ready(self) -> None:
        # Models are there by now, and not before.
        from backoffice.groups import sync_groups
        from backoffice.second_factor import history

        name_apps()
        history.connect()
        # Of all apps that have models this one is the last.
        post_migrate.connect(sync_groups, sender=self, dispatch_uid="backoffice.groups")
