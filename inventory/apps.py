from django.apps import AppConfig


class InventoryConfig(AppConfig):
    name = "inventory"

    def ready(self) -> None:
        from imports.importer import register
        from inventory.importing import StockImporter

        register(StockImporter())
