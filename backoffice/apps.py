from django.apps import AppConfig
from django.core import checks
from django.db.models.signals import post_migrate

from backoffice.app_names import name_apps_and_fields


class BackofficeConfig(AppConfig):
    name = "backoffice"

    def ready(self) -> None:
        # Import here: models are not loaded before ready().
        from accounts.operating import remarks
        from backoffice.comments import comments
        from backoffice.contacts.pages import message_remarks
        from backoffice.erasing_texts import COMMENTS, MESSAGES, SAVED_VIEWS
        from backoffice.groups import check_limits, sync_groups
        from backoffice.partners import panels
        from backoffice.second_factor import history
        from orders.erasing_copies import search

        name_apps_and_fields()
        panels.register()
        remarks.register(comments)
        remarks.register(message_remarks)
        search.register(COMMENTS)
        search.register(MESSAGES)
        search.register(SAVED_VIEWS)
        history.connect()
        checks.register(check_limits)
        # This is the last app with models, so all permissions exist when its `post_migrate` signal is sent.
        post_migrate.connect(sync_groups, sender=self, dispatch_uid="backoffice.groups")
