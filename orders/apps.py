from django.apps import AppConfig


class OrdersConfig(AppConfig):
    name = "orders"

    def ready(self) -> None:
        # Imported here, because models can only be imported after all apps are loaded.
        from events import epochs
        from inventory.arrivals import register
        from orders.backorders.allocating import allocate
        from orders.processing_state import jump_ahead

        register(allocate)
        epochs.register(jump=jump_ahead)
