from tests.orders.desks import (  # noqa: F401
    _sound,
    acme_api,
    an_order_at_acme,
    push,
    rival_api,
    shop_api,
    work,
    work_of,
)
