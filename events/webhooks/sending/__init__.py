"""The process that sends deliveries.

The modules handle a delivery in this order. `shares` assigns webhooks to this process. `due` reads the due
deliveries. `receivers` keeps the deliveries in memory, in order for each subject, and limits the requests to
each receiver. `requests` signs a delivery. `http_client` sends a delivery over `connections` to the addresses
that `resolving` finds. `results` saves the results. `process` is the loop that calls these modules.
"""
