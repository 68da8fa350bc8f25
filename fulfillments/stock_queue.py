"""The sequence in which backorders get arrived stock. No other module decides this sequence (contract 13).

1. Short units of routed lines come first.
2. Unrouted lines come second.
3. Routed lines with the flag `behind` come last. They are short because the stock was left for unrouted
   lines.

Within 1, 2 and 3, older orders come first. Within an order, earlier lines come first.
"""

from __future__ import annotations

ROUTED_ORDER = "p.behind, f.order_id, p.id"
"""SQL that sorts routed lines; `p` is the line, `f` its fulfillment."""
ROUTED_FIELDS = ("behind", "fulfillment__order_id", "pk")
"""The same sort order for a queryset of routed lines."""
FIRST = "NOT p.behind"
BEFORE_UNROUTED = f"{FIRST} AND f.order_id < %(order)s"
"""SQL of the routed lines that come before the routed lines of the order `%(order)s`."""
AFTER_UNROUTED = "p.behind AND f.order_id < %(order)s"
"""SQL of the routed lines of older orders that come after the unrouted lines."""
UNROUTED_ORDER = "order_id, id"
"""SQL that sorts unrouted lines, with the names of their columns."""
OLDER_UNROUTED = "o.id < %(before)s"
"""SQL of the unrouted lines of orders before `%(before)s`; `o` is the line's order."""
UNROUTED_AFTER = "(o.id, l.id) > (%(order)s, %(line)s)"
"""SQL of the unrouted lines that come after a line; `l` is the line, `o` its order."""
