from django.apps import AppConfig


class CatalogConfig(AppConfig):
    name = "catalog"

    def ready(self) -> None:
        # Models are there by now, and not before.
        from catalog.importing.importer import ProductImporter
        from catalog.snapshot import begin_anew
        from events import epochs
        from imports.pipeline.importer import register

        register(ProductImporter())
        epochs.register(stamped=("catalog_variant", "catalog_departure", "catalog_pulse"), jump=begin_anew)
