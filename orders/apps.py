from django.apps import AppConfig


class OrdersConfig(AppConfig):
    name = "orders"

    def ready(self) -> None:
        # Import here: models can only be imported after all apps are loaded.
        from accounts.operating import record_panels
        from api import facts
        from catalog.models import Variant
        from events import epochs
        from fulfillments.models import Fulfillment
        from inventory import expecting
        from inventory.arrivals import register
        from inventory.models import StockLevel
        from orders.admin.fulfillment_actions import RELEASE
        from orders.backorders.allocating import allocate
        from orders.backorders.announcing import announce
        from orders.backorders.panels import STOCK_PANEL, VARIANT_PANEL
        from orders.facts import erasures, orders, reconciled
        from orders.processing_state import jump_ahead

        record_panels.register(Variant, panels=[VARIANT_PANEL])
        record_panels.register(StockLevel, panels=[STOCK_PANEL])
        record_panels.register(Fulfillment, actions=[RELEASE], acts_with=["order__fulfillments__supplier"])
        register(allocate)
        expecting.register(announce)
        epochs.register(jump=jump_ahead)
        facts.register(orders, reconciled, erasures)
