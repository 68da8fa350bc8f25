from tests.orders.fixtures import (  # noqa: F401
    _invariants_hold,
    acme_api,
    an_order_at_acme,
    push,
    rival_api,
    shop_api,
    work,
    work_of,
)
