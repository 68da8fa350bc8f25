"""Which supplier and warehouse ships what (contract 4 and 13), as a pure function of wants and stock.

1. `plan.py`: what is asked (wants, candidates) and what is answered (a plan and its allocations).
2. `problem.py`: the same in whole numbers, in groups of lines that compete for the same stock.
3. `search.py`: which places ship: the fewest, and of those sets the cheapest.
4. `filling.py`: which piece comes from which of them.
5. `planner.py`: all of it together, and where goes what nobody has in stock.
"""

from fulfillments.planning.routing.plan import Agreed, Allocation, Candidate, Place, Plan, Want
from fulfillments.planning.routing.planner import plan

__all__ = ["Agreed", "Allocation", "Candidate", "Place", "Plan", "Want", "plan"]
