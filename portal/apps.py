from django.apps import AppConfig


class PortalConfig(AppConfig):
    name = "portal"

    def ready(self) -> None:
        # The models can only be imported after all apps are loaded.
        from accounts.operating.acting import register_for_members
        from portal.supplying.many_orders import MANY_ORDERS

        register_for_members(MANY_ORDERS)
