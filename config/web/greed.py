"""The choice of the client that loses its connection when connections or memory run short."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence

from config.web.connection import Connection


def first_of_greediest(
    connections: Sequence[Connection],
    party: Callable[[Connection], Hashable],
    size: Callable[[Connection], int],
) -> Connection | None:
    """Return the first connection of the party whose connections have the largest total `size`, or None."""
    totals: Counter[Hashable] = Counter()
    for connection in connections:
        totals[party(connection)] += size(connection)
    if not totals:
        return None
    ((greediest, _),) = totals.most_common(1)
    return next(connection for connection in connections if party(connection) == greediest)
