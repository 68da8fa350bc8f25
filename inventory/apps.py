from django.apps import AppConfig


class InventoryConfig(AppConfig):
    name = "inventory"

    def ready(self) -> None:
        # Import here: models cannot be imported before the apps are loaded.
        from events import epochs
        from imports.pipeline.importer import register
        from inventory.importing.importer import StockImporter

        register(StockImporter())
        epochs.register(stamped=("inventory_stocklevel",))
