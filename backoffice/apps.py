from django.apps import AppConfig, apps
from django.db.models.signals import post_migrate


class BackofficeConfig(AppConfig):
    name = "backoffice"

    def ready(self) -> None:
        from backoffice.groups import sync_groups
        from backoffice.naming import name_apps

        name_apps()
        # Django tells only apps with models that a migration is done; `orders` is the last of those.
        last = apps.get_app_config("orders")
        post_migrate.connect(sync_groups, sender=last, dispatch_uid="backoffice.groups")
