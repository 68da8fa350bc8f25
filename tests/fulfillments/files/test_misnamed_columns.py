"""A tracking file whose columns for lines or quantities have other names is not carried out."""

from __future__ import annotations

import pytest

from tests.orders.fixtures import state_of


@pytest.mark.parametrize(
    ("header", "row", "column", "field"),
    [
        ("fulfillment_id,action,tracking_number,line_id,Qty", "{line},1", "Qty", "quantity"),
        ("fulfillment_id,action,tracking_number,line_id,Menge", "{line},1", "Menge", "quantity"),
        ("fulfillment_id,action,tracking_number,sku,quantity_open", "LAMP,1", "quantity_open", "quantity"),
        (
            "fulfillment_id,action,tracking_number,sku,Quantity shipped",
            "LAMP,1",
            "Quantity shipped",
            "quantity",
        ),
        ("fulfillment_id,action,tracking_number,sku,qantity", "LAMP,1", "qantity", "quantity"),
        ("fulfillment_id,action,tracking_number,Article", "LAMP", "Article", "line_id or sku"),
        ("fulfillment_id,action,tracking_number,SKU code", "LAMP", "SKU code", "line_id or sku"),
        ("fulfillment_id,action,tracking_number,LineNo,quantity", "{line},1", "LineNo", "line_id or sku"),
        ("fulfillment_id,action,tracking_number,order_line_id", "{line}", "order_line_id", "line_id or sku"),
    ],
)
def test_a_column_that_may_name_fewer_units_is_not_ignored(put, work, header, row, column, field):
    job = put(f"{work.pk},ship,T-1," + row.format(line=work.lines.first().pk), header=header)

    assert (job.status, job.error["code"]) == ("failed", "misnamed_column")
    assert f"'{column}'" in job.error["message"]
    assert f"Rename the column to {field}" in job.error["message"]
    assert state_of(work) == "new"


@pytest.mark.parametrize("column", ["comment", "order_id", "zip_code", "weight", "Shipping method code"])
def test_other_columns_are_ignored(put, work, column):
    job = put(f"{work.pk},ship,T-1,7", header=f"fulfillment_id,action,tracking_number,{column}")

    assert (job.status, job.updated, job.ignored_columns) == ("succeeded", 1, [column])


def test_columns_beside_the_right_ones_are_ignored(put, work):
    header = "fulfillment_id,action,tracking_number,sku,quantity,title,quantity_open"
    job = put(f"{work.pk},ship,T-1,LAMP,1,A lamp,2", header=header)

    assert (job.status, job.updated) == ("succeeded", 1)
    assert work.shipments.get().items[0]["quantity"] == 1
