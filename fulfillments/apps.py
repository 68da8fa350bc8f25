from django.apps import AppConfig


class FulfillmentsConfig(AppConfig):
    name = "fulfillments"

    def ready(self) -> None:
        # Import here: these modules need the models, which Django loads before it calls ready().
        from api import facts
        from events.webhooks import types
        from fulfillments.facts import fulfillments
        from fulfillments.files.orders_folder import OrdersFolder
        from fulfillments.files.tracking import TrackingImporter
        from fulfillments.states import EVENTS
        from imports.pipeline import importer
        from sftp_ingest.area import made_files

        made_files.register(OrdersFolder())
        importer.register(TrackingImporter())
        facts.register(fulfillments)
        types.register("fulfillments", EVENTS)
