from django.apps import AppConfig


class CatalogConfig(AppConfig):
    name = "catalog"

    def ready(self) -> None:
        # Models are there by now, and not before.
        from catalog.importing.importer import ProductImporter
        from imports.pipeline.importer import register

        register(ProductImporter())
