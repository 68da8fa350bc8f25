from django.apps import AppConfig


class CatalogConfig(AppConfig):
    name = "catalog"

    def ready(self) -> None:
        from catalog.importing import ProductImporter
        from imports.importer import register

        register(ProductImporter())
