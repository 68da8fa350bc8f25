from django.apps import AppConfig


class InventoryConfig(AppConfig):
    name = "inventory"

    def ready(self) -> None:
        # Import here: models cannot be imported before the apps are loaded.
        from accounts.operating import record_panels
        from api import facts
        from catalog.models import Variant
        from events import epochs
        from imports.pipeline.importer import register
        from inventory.facts import feeds
        from inventory.importing.importer import StockImporter
        from inventory.variant_panels import PANELS

        register(StockImporter())
        record_panels.register(Variant, panels=PANELS)
        epochs.register(stamped=("inventory_stocklevel",))
        facts.register(feeds)
