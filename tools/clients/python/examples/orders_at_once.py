"""An example: a retailer reads many orders at the same time with asyncio.

Set BASE_URL, API_KEY and RETAILER_ID.
"""

from __future__ import annotations

import asyncio
import os

from exchange_client import AsyncRetailer


async def main() -> None:
    async with AsyncRetailer(
        os.environ["BASE_URL"], os.environ["API_KEY"], int(os.environ["RETAILER_ID"])
    ) as shop:
        ids = [order["id"] async for order in shop.iter_orders()][:10]
        orders = await asyncio.gather(*(shop.get_order(each) for each in ids))
        for order in orders:
            print(f"{order['retailer_order_id']}: {order['processing_state']}")


asyncio.run(main())
