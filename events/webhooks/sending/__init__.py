"""The process that sends deliveries.

The modules in the order in which they handle a delivery: `shares` assigns webhooks to this process. `due`
reads the due deliveries. `receivers` keeps them in memory in the order of their subject, and limits the
requests to each receiver. `requests` signs a delivery. `http_client` sends it over `connections` to the
addresses that `resolving` finds. `results` saves the result. `process` is the loop around all of them.
"""
