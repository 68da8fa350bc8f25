"""Routing: a pure function from wants and stock to a plan of warehouses (contract 4 and 13).

1. `plan.py`: the input (wants, candidates) and the output (a plan and its allocations).
2. `problem.py`: the input as whole numbers, with groups of lines that compete for the same stock.
3. `search.py`: finds the warehouses that ship: the fewest, and among equal numbers the cheapest.
4. `filling.py`: assigns the stock of these warehouses to the lines.
5. `planner.py`: combines these steps, and routes units that no warehouse has in stock.
"""

from fulfillments.planning.routing.plan import Agreed, Allocation, Candidate, Plan, Want, WarehouseKey
from fulfillments.planning.routing.planner import plan

__all__ = ["Agreed", "Allocation", "Candidate", "Plan", "Want", "WarehouseKey", "plan"]
