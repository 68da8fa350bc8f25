"""An example: a supplier imports products, waits for the import, and reports their stock.

Set BASE_URL, API_KEY and SUPPLIER_ID.
"""

from __future__ import annotations

import os

from exchange_client import Supplier, csv_lines

PRODUCTS = [
    {"sku": "EXAMPLE-MUG", "title": "Mug, blue", "retail_price": "12.50", "wholesale_price": "6.00"},
    {"sku": "EXAMPLE-BOWL", "title": 'Bowl, 8"', "retail_price": "18.00", "wholesale_price": "9.00"},
]

with Supplier(os.environ["BASE_URL"], os.environ["API_KEY"], int(os.environ["SUPPLIER_ID"])) as supplier:
    started = supplier.import_products({"data": csv_lines(PRODUCTS)})
    job = supplier.wait_for_import(started["id"])
    print(f"Import {job['id']}: {job['status']}, {job['rejected']} rows rejected")
    if job["rejected"]:
        print(supplier.get_import_errors(job["id"]))

    warehouse = next(each for each in supplier.iter_warehouses() if each["is_default"])
    counts = supplier.push_inventory(
        {
            "warehouse_id": warehouse["id"],
            "inventories": [{"id": "EXAMPLE-MUG", "amount": 40}, {"id": "EXAMPLE-BOWL", "amount": 12}],
        }
    )
    for fault in counts["errors"]:
        print(f"{fault['id']}: {fault['message']}")
