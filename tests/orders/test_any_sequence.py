"""Random actions of all parties in any order are carried out or refused, and all counters agree."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import CancelationDefault, Partnership
from api.errors import ApiError
from catalog.models import Variant
from events.models import Event
from fulfillments.models import Fulfillment
from fulfillments.tasks import answer_cancelations
from inventory.models import StockLevel
from orders import services
from orders.models import Order
from tests.orders.fixtures import OPERATOR, status
from tests.orders.invariants import violations
from tests.orders.push_bodies import an_order
from tests.orders.test_stock_ledger import now

pytestmark = pytest.mark.fuzz

SKUS = ("LAMP", "MAT")


class Step(NamedTuple):
    """A random action on the fulfillment or order with this index, if it exists."""

    verb: str
    number: int
    sku: str
    quantity: int
    tag: int


class Stage:
    """Two suppliers and a shop. Each verb is a method, which returns the answer if it sends a request."""

    def __init__(self, clients: dict[int, Any], shop_api: Any, suppliers: list[Any]) -> None:
        self.clients, self.shop_api, self.suppliers = clients, shop_api, suppliers
        self.named: dict[tuple[str, str], Any] = {}  # requests by cancel_id
        self.moments: list[datetime] = []

    def perform(self, step: Step) -> Any:
        self.moments.append(now())
        # Keep the ids for a repetition: a repetition must use the same fulfillment, although routing may add
        # fulfillments.
        self.works = list(Fulfillment.objects.order_by("pk").values_list("pk", flat=True))
        return self.repeat(step)

    def repeat(self, step: Step) -> Any:
        return getattr(self, step.verb)(step)

    def _order(self, step: Step) -> Order:
        orders = Order.objects.order_by("pk")
        return orders[step.number % len(orders)]

    def _work(self, step: Step) -> Fulfillment | None:
        if not self.works:
            return None
        pk = self.works[step.number % len(self.works)]
        return Fulfillment.objects.select_related("order").get(pk=pk)

    def _items(self, step: Step) -> list[dict[str, Any]]:
        return [{"sku": step.sku, "quantity": step.quantity}]

    def _put(self, step: Step, value: str, body: Any = None) -> Any:
        work = self._work(step)
        return work and self.clients[work.supplier_id].put(status(work, value), body)

    def _post(self, step: Step, path: str, body: Any) -> Any:
        work = self._work(step)
        if work is None:
            return None
        element = {"id": work.pk} | body
        return self.clients[work.supplier_id].post(
            path, [element] if path.endswith("rejections") else element
        )

    # --- The retailer ----------------------------------------------------------------------------

    def push(self, step: Step) -> Any:
        lines = self._items(step)
        if step.tag:
            lines.append({"sku": SKUS[step.tag % 2], "quantity": step.tag})
        if step.tag == 2:
            lines[0]["supplier_id"] = self.suppliers[step.number % 2].pk
        return self.shop_api.post("orders", an_order(*lines))

    def cancel(self, step: Step) -> Any:
        return self.shop_api.post(f"orders/{self._order(step).pk}/cancel")

    def cancel_more(self, step: Step) -> Any:
        """Cancel a number of units, which includes units with a requested cancellation."""
        return self.shop_api.post(f"orders/{self._order(step).pk}/cancel", {"lines": self._items(step)})

    def cancel_rest(self, step: Step) -> Any:
        """Cancel all remaining units of a sku."""
        body = {"lines": [{"sku": step.sku}]}
        return self.shop_api.post(f"orders/{self._order(step).pk}/cancel", body)

    def cancel_some(self, step: Step) -> Any:
        """Cancel more units under a cancel_id, so that a repetition at any time is the same request."""
        name = "-".join(map(str, step))
        body = {"lines": self._items(step), "cancel_id": name}
        path = f"orders/{self._order(step).pk}/cancel"
        answer = self.shop_api.post(path, body)
        if answer.status_code == 200:
            self.named[path, name] = body
        return answer

    def repeat_late(self) -> list[str]:
        """Send every request with a cancel_id again."""
        return [self.shop_api.post(path, body).json()["code"] for (path, _), body in self.named.items()]

    # --- Suppliers -------------------------------------------------------------------------------

    def accept(self, step: Step) -> Any:
        return self._put(step, "accepted", {"tracking_number": f"T-{step.tag}"} if step.tag else None)

    def ship(self, step: Step) -> Any:
        return self._put(step, "shipped", {"tracking_number": f"T-{step.tag}"})

    def ship_some(self, step: Step) -> Any:
        work = self._work(step)
        line = work and work.lines.filter(variant__sku=step.sku).first()
        if line is None:
            return None
        line_units = {"id": line.pk, "quantity": step.quantity}
        return self._put(step, "shipped", {"tracking_number": f"T-{step.tag}", "lines": [line_units]})

    def ship_parcels(self, step: Step) -> Any:
        parcels = [
            {"trackingNumber": f"T-{step.tag + more}", "items": self._items(step)} for more in range(2)
        ]
        return self._post(step, "fulfillments/shipments", {"shipments": parcels})

    def reject_out_of_stock(self, step: Step) -> Any:
        return self._put(step, "out_of_stock")

    def reject_missing_sku(self, step: Step) -> Any:
        return self._put(step, "missing_sku")

    def reject_wrong_address(self, step: Step) -> Any:
        return self._put(step, "wrong_address")

    def reject_some(self, step: Step) -> Any:
        refused = {
            "rejectId": f"J-{step.tag}",
            "reason": ("out_of_stock", "missing_sku", "wrong_address")[step.tag % 3],
            "items": self._items(step),
        }
        return self._post(step, "fulfillments/rejections", refused)

    def approve(self, step: Step) -> Any:
        return self._put(step, "", {"status": "canceled"})

    def refuse(self, step: Step) -> Any:
        return self._put(step, "", {"status": "cancelation not allowed"})

    def take_back(self, step: Step) -> Any:
        work = self._work(step)
        items = [each | {"restock": step.quantity > 1} for each in self._items(step)]
        body = {"reason": "too large", "return_id": f"B-{step.tag}", "return_lines": items}
        return work and self.clients[work.supplier_id].post(f"fulfillments/{work.pk}/returns", body)

    def count(self, step: Step) -> Any:
        Variant.objects.filter(sku=step.sku).update(listed=True)
        supplier = self.suppliers[step.number % 2]
        warehouse = supplier.warehouses.get(is_default=True)
        body = {"warehouse_id": warehouse.pk, "id_type": "sku"}
        body["inventories"] = [{"id": step.sku, "amount": step.quantity}]
        if step.tag:  # send a count of a past moment, before some earlier actions
            moments = self.moments[-3 * step.tag :]
            body["as_of"] = moments[0].isoformat()
        return self.clients[supplier.pk].post("inventory", body)

    # --- Operators, and time ---------------------------------------------------------------------

    def correct_address(self, step: Step) -> None:
        with self._order(step).change(by=OPERATOR) as change:
            services.correct_address(change, {"city": f"Leeds {step.tag}"})

    def release_work(self, step: Step) -> None:
        if work := self._work(step):
            with work.order.change(by=OPERATOR) as change:
                work.correct_address(change)

    def route_again(self, step: Step) -> None:
        with self._order(step).change(by=OPERATOR) as change:
            services.route_again(change)

    def hold(self, step: Step) -> None:
        with self._order(step).change(by=OPERATOR) as change:
            services.hold(change)

    def release(self, step: Step) -> None:
        with self._order(step).change(by=OPERATOR) as change:
            services.release(change)

    def wait_for_answers(self, step: Step) -> None:
        Fulfillment.objects.filter(state="canceling").update(due_at="2020-01-01T00:00:00Z")
        answer_cancelations()


# An identical repetition of these actions changes nothing.
REPEATABLE = (
    *("accept", "ship", "ship_some", "ship_parcels", "approve", "refuse", "take_back", "cancel"),
    *("reject_out_of_stock", "reject_missing_sku", "reject_wrong_address", "reject_some"),
    *("cancel_some", "cancel_rest"),
)
VERBS = [name for name in vars(Stage) if name[0] != "_" and name not in ("perform", "repeat", "repeat_late")]
# Actions after which an order has open units are more frequent.
GENTLE = [
    *("push", "accept", "ship_some", "ship_parcels", "reject_some", "take_back", "count"),
    *("cancel_some", "cancel_more"),
]
steps = st.builds(
    Step,
    st.sampled_from([*VERBS, *GENTLE * 3, "approve", "refuse"]),
    st.integers(0, 2),
    st.sampled_from(SKUS),
    st.integers(1, 3),
    st.integers(0, 2),
)


@pytest.fixture
def stage(acme, rival, shop, acme_api, rival_api, shop_api, a_variant):
    a_variant(acme, "LAMP", stock=6, wholesale_price="10")
    a_variant(rival, "LAMP", stock=4, wholesale_price="12")
    a_variant(acme, "MAT", stock=5, wholesale_price="5")
    limits = {"hours_to_answer": 1, "hours_to_accept": 1, "hours_to_ship": 2}
    Partnership.objects.filter(supplier=rival).update(
        **limits, cancelation_default=CancelationDefault.APPROVE
    )
    Partnership.objects.filter(supplier=acme).update(**limits, cancelation_default=CancelationDefault.REFUSE)
    return Stage({acme.pk: acme_api, rival.pk: rival_api}, shop_api, [acme, rival])


@settings(
    max_examples=10,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(scenario=st.lists(steps, min_size=10, max_size=20))
def test_any_sequence_of_actions_ends_consistently(stage, scenario):
    with transaction.atomic():
        stage.named = {}
        stage.push(Step("push", 0, "LAMP", 3, 1))
        for step in scenario:
            reserved = dict(StockLevel.objects.values_list("pk", "reserved"))
            try:
                answer = stage.perform(step)
            except ApiError:  # a refusal, shown to an operator
                answer = None
            assert answer is None or answer.status_code < 500, (step, answer.content)
            for level in StockLevel.objects.all():
                grown = level.reserved > reserved.get(level.pk, 0)
                assert not grown or level.reserved <= level.on_hand, (step, f"{level} is oversold")
            if answer is not None and answer.status_code == 200 and step.verb in REPEATABLE:
                known = Event.objects.count()
                again = stage.repeat(step)
                assert again.status_code == 200, (step, again.content)
                assert Event.objects.count() == known, (step, answer.content, again.content)
        known = Event.objects.count()
        assert set(stage.repeat_late()) <= {"unchanged"}
        assert Event.objects.count() == known
        assert violations() == []
        transaction.set_rollback(True)
