from django.apps import AppConfig


class FulfillmentsConfig(AppConfig):
    name = "fulfillments"

    def ready(self) -> None:
        # Import here: these modules need the models, which Django loads before it calls ready().
        from api import facts
        from events import epochs
        from events.webhooks import types
        from fulfillments.facts import fulfillments
        from fulfillments.files.kind import FULFILLMENTS
        from fulfillments.files.orders_folder import OrdersFolder
        from fulfillments.slips.sscc import jump_ahead
        from fulfillments.states import EVENTS
        from imports import kinds
        from sftp_ingest.area import made_files

        made_files.register(OrdersFolder())
        kinds.register(FULFILLMENTS)
        epochs.register(jump=jump_ahead)
        facts.register(fulfillments)
        types.register("fulfillments", EVENTS)
