"""`orders/slips/` has the same packing slips as the API (contract 22)."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest

from fulfillments.models import Fulfillment
from fulfillments.slips import folder, selectors
from orders.models import Order
from tests.client import ApiClient
from tests.factories import SlipTemplateFactory
from tests.orders.fixtures import status


def read(acme_sftp: Any, name: str) -> bytes:
    local = BytesIO()
    acme_sftp.getfo(f"orders/slips/{name}", local)  # the client compares the size, too
    return local.getvalue()


def test_the_folder_lists_open_work_with_the_files_of_the_api(
    acme_api: ApiClient, acme_sftp: Any, work: Fulfillment, push: Callable[..., Order]
):
    shipped = push({"sku": "MAT", "quantity": 1}).fulfillments.get()
    acme_api.put(status(shipped, "accepted"))
    acme_api.put(status(shipped, "shipped"), {"tracking_number": "T-1"})
    assert "slips" in acme_sftp.listdir("orders")
    (listed,) = acme_sftp.listdir_attr("orders/slips")
    content = acme_api.get(f"fulfillments/{work.pk}/packing-slip").content
    assert (listed.filename, listed.st_size) == (f"{work.pk}.pdf", len(content))
    assert read(acme_sftp, f"{work.pk}.pdf") == content
    assert (
        read(acme_sftp, f"{shipped.pk}.pdf")
        == acme_api.get(f"fulfillments/{shipped.pk}/packing-slip").content
    )


@pytest.mark.parametrize("name", ["999999.pdf", "x.pdf", "1.txt", "inner/1.pdf", f"{'9' * 30}.pdf"])
def test_there_is_no_other_file(acme_sftp: Any, work: Fulfillment, name: str):
    with pytest.raises(FileNotFoundError):
        acme_sftp.stat(f"orders/slips/{name}")


def test_long_orders_shorten_the_list(
    acme_sftp: Any, work: Fulfillment, push: Callable[..., Order], monkeypatch
):
    """The two fulfillments have three lines. Each slip can still be read by its name."""
    second = push({"sku": "MAT", "quantity": 1}).fulfillments.get()
    for module in (folder, selectors):
        monkeypatch.setattr(module, "MOST_LINES", 2)

    assert acme_sftp.listdir("orders/slips") == [f"{work.pk}.pdf"]
    assert read(acme_sftp, f"{second.pk}.pdf").startswith(b"%PDF")


def test_an_unwanted_slip_is_left_out(acme_sftp: Any, work: Fulfillment):
    SlipTemplateFactory.create(retailer=work.order.retailer, wanted=False)
    assert acme_sftp.listdir("orders/slips") == []
    with pytest.raises(FileNotFoundError):
        acme_sftp.open(f"orders/slips/{work.pk}.pdf")
    with pytest.raises(OSError, match="read-only"):
        acme_sftp.open("orders/slips/1.pdf", "w")
