from django.apps import AppConfig, apps
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
        # Django sends this signal for apps with models alone; `orders` is the last of those.
        last = apps.get_app_config("orders")
        post_migrate.connect(sync_groups, sender=last, dispatch_uid="backoffice.groups")
