from django.apps import AppConfig
from django.db.models.signals import post_migrate

from backoffice.app_names import name_apps


class BackofficeConfig(AppConfig):
    name = "backoffice"

    def ready(self) -> None:
        # These modules import models, which are loaded only now.
        from backoffice.groups import sync_groups
        from backoffice.second_factor import history

        name_apps()
        history.connect()
        # This is the last app with models, so all permissions exist when its signal fires.
        post_migrate.connect(sync_groups, sender=self, dispatch_uid="backoffice.groups")
