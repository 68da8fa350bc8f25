from django.apps import AppConfig


class CatalogConfig(AppConfig):
    name = "catalog"

    def ready(self) -> None:
        # Import here: models cannot be imported before the apps are loaded.
        from catalog.importing.kind import PRODUCTS
        from catalog.snapshot import restart_snapshots
        from events import epochs
        from imports import kinds

        kinds.register(PRODUCTS)
        epochs.register(
            stamped=("catalog_variant", "catalog_departure", "catalog_pulse"), jump=restart_snapshots
        )
