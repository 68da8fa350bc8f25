from django.apps import AppConfig


class OrdersConfig(AppConfig):
    name = "orders"

    def ready(self) -> None:
        # Models are there by now, and not before.
        from events import epochs
        from inventory.arrivals import register
        from orders.processing_state import jump_ahead
        from orders.serving import serve_waiting

        register(serve_waiting)
        epochs.register(jump=jump_ahead)
