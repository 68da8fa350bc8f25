from django.apps import AppConfig
from django.db.models.signals import post_migrate


class BackofficeConfig(AppConfig):
    name = "backoffice"

    def ready(self) -> None:
        from backoffice.groups import sync_groups

        post_migrate.connect(sync_groups, sender=self, dispatch_uid="backoffice.groups")
