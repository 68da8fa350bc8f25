"""The process that sends deliveries, and what it is made of.

In the order in which a delivery meets it: `shares` says which webhooks are this process's; `due` reads what
is due of them; `receivers` keeps it in memory, in the order of its subject, and says when its receiver may be
asked; `requests` signs it; `http_client` sends it, by `connections` to the addresses that `resolving` finds;
`outcomes` writes down how it went; `process` is the loop around all of it.
"""
