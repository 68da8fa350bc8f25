from django.apps import AppConfig


class FulfillmentsConfig(AppConfig):
    name = "fulfillments"

    def ready(self) -> None:
        # Models are there by now, and not before.
        from fulfillments.files.orders_folder import OrdersFolder
        from sftp_ingest.area.made_files import register

        register(OrdersFolder())
