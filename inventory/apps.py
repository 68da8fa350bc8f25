from django.apps import AppConfig


class InventoryConfig(AppConfig):
    name = "inventory"

    def ready(self) -> None:
        # Import here: models cannot be imported before the apps are loaded.
        from accounts.operating import record_panels
        from api import facts
        from catalog.models import Variant
        from events import epochs
        from imports import kinds
        from inventory.facts import feeds
        from inventory.importing.kind import INVENTORY
        from inventory.variant_panels import PANELS

        kinds.register(INVENTORY)
        record_panels.register(Variant, panels=PANELS)
        epochs.register(stamped=("inventory_stocklevel", "inventory_expectedstock"))
        facts.register(feeds)
