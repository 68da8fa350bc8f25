"""The order in which backorders get arrived stock. No other module decides it (contract 13).

1. Short units of routed lines come first.
2. Unrouted lines follow.
3. Last are routed lines that were routed short because unrouted lines had a claim to the stock (`behind`).

In each group, older orders come first, and the earlier lines of an order.
"""

from __future__ import annotations

ROUTED_ORDER = "p.behind, f.order_id, p.id"
"""SQL of the order of routed lines; `p` is the line, `f` its fulfillment."""
ROUTED_FIELDS = ("behind", "fulfillment__order_id", "pk")
"""The same order for a queryset of routed lines."""
FIRST = "NOT p.behind"
BEFORE_UNROUTED = f"{FIRST} AND f.order_id < %(order)s"
"""SQL of the routed lines that come before the order's own routed lines."""
AFTER_UNROUTED = "p.behind AND f.order_id < %(order)s"
"""SQL of the routed lines of older orders that come after the unrouted lines."""
UNROUTED_ORDER = "order_id, id"
"""SQL of the order of unrouted lines, by the names of their columns."""
OLDER_UNROUTED = "o.id < %(before)s"
"""SQL of the unrouted lines that come before an order; `o` is their order."""
UNROUTED_AFTER = "(o.id, l.id) > (%(order)s, %(line)s)"
"""SQL of the unrouted lines that come after a line; `l` is the line, `o` its order."""
