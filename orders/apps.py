from django.apps import AppConfig


class OrdersConfig(AppConfig):
    name = "orders"

    def ready(self) -> None:
        # Models are there by now, and not before.
        from inventory.arrivals import register
        from orders.serving import serve_waiting

        register(serve_waiting)
