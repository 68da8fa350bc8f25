from django.apps import AppConfig


class OrdersConfig(AppConfig):
    name = "orders"

    def ready(self) -> None:
        # Models are there by now, and not before.
        from events import epochs
        from inventory.arrivals import register
        from orders.backorders.allocating import serve_waiting
        from orders.processing_state import jump_ahead

        register(serve_waiting)
        epochs.register(jump=jump_ahead)
