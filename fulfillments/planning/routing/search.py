"""The search for the warehouses that ship: the fewest that fill all units in stock, then the cheapest.

The search is a branch and bound over sets of warehouses. A `LineGroup` with missing units needs a further
warehouse. The search tries each warehouse with stock for the group in turn, and then excludes this warehouse
from the later tries. The search starts with a good set from a greedy search. At the limit of work, the search
stops with the best set so far. The limit is a number of steps, not of seconds: the same order with the same
stock gets the same plan on every machine.
"""

from __future__ import annotations

import heapq

from fulfillments.planning.routing.filling import Units, cheapest, fill
from fulfillments.planning.routing.problem import LineGroup, Problem, positions

MOST_WORK = 1_000_000
"""The limit of work, counted in numbers that the search reads. This much work takes about 0.2 s."""

Merit = tuple[int, int, int]
"""The number of new fulfillments, the cost, and the sum of the suppliers' priorities. Smaller is better."""


class Search:
    """A search for the best set of warehouses of a problem, as bits.

    Warehouses in `joined` have a fulfillment that units can join, so they need no new fulfillment.
    """

    def __init__(self, problem: Problem, joined: int = 0, most_work: int = MOST_WORK) -> None:
        self.problem, self.groups, self.joined = problem, problem.groups, joined
        self.work, self.most_work = 0, most_work
        self.all = (1 << len(problem.warehouses)) - 1
        self.mixed = [number for number, group in enumerate(self.groups) if not group.uniform]
        for group in self.groups:
            have = sum(group.supply.values())
            group.need = min(group.wanted, have) if group.uniform else self._fill(group, self.all)[0]
        self.supplies: list[list[tuple[int, int]]] = [[] for _ in problem.warehouses]
        for number, group in enumerate(self.groups):
            for warehouse, units in group.supply.items():
                self.supplies[warehouse].append((number, units))
        self.rank = self._ranks()
        self.best, self.merit = self.all, self._merit(self.all)

    @property
    def exhausted(self) -> bool:
        """Whether the limit of work ended the search, so that a better set may exist."""
        return self.work > self.most_work

    def run(self) -> int:
        """Return the best set of warehouses that the search finds."""
        self._keep(self._without_spare(self._greedy()))
        self._exchange()
        self._branch(self.joined, self.all)
        return self.best

    def missing(self, warehouses: int) -> list[int]:
        """Return the missing units of each `LineGroup` if these warehouses ship. A surplus is negative."""
        missing = [group.need for group in self.groups]
        for warehouse in positions(warehouses):
            self.work += len(self.supplies[warehouse])
            for number, units in self.supplies[warehouse]:
                missing[number] -= units
        return missing

    # --- Branch and bound ------------------------------------------------------------------------

    def _branch(self, chosen: int, allowed: int) -> None:
        """Search the sets that contain all chosen warehouses and no warehouse outside `allowed`."""
        if self.exhausted:
            return
        missing = self.missing(chosen)
        forced = self._forced(missing, allowed & ~chosen)
        if forced is None:
            return
        if forced:
            chosen |= forced
            missing = self.missing(chosen)
        if not self._could_be_better(chosen, allowed, missing):
            return
        lacking = [number for number, units in enumerate(missing) if units > 0]
        lacking = lacking or self._lacking_by_flow(chosen)
        if not lacking:
            self._keep(chosen)
            return
        undecided = allowed & ~chosen
        options = min(
            (
                [warehouse for warehouse in self.groups[number].supply if undecided >> warehouse & 1]
                for number in lacking
            ),
            key=len,
        )
        for warehouse in sorted(options, key=lambda each: (-self._gain(each, missing), self.rank[each])):
            self._branch(chosen | 1 << warehouse, allowed)
            allowed &= ~(1 << warehouse)

    def _forced(self, missing: list[int], undecided: int) -> int | None:
        """Return the undecided warehouses that every complete set must contain.

        A set that lacks such a warehouse cannot fill some `LineGroup`. Return None if even all undecided
        warehouses together cannot fill a group.
        """
        forced = 0
        for number, units in enumerate(missing):
            if units > 0:
                supply = self.groups[number].supply
                self.work += len(supply)
                offers = [
                    (warehouse, count) for warehouse, count in supply.items() if undecided >> warehouse & 1
                ]
                spare = sum(count for _, count in offers) - units
                if spare < 0:
                    return None
                for warehouse, count in offers:
                    if count > spare:
                        forced |= 1 << warehouse
        return forced

    def _could_be_better(self, chosen: int, allowed: int, missing: list[int]) -> bool:
        """Return whether the lower bounds allow a better set that contains the chosen warehouses."""
        count, cost, priority = self.merit
        fewest = (chosen & ~self.joined).bit_count() + self._fewest_more(allowed & ~chosen, missing)
        if fewest != count:
            return fewest < count
        self.work += sum(len(group.offers) for group in self.groups)
        least = sum(cheapest(group, allowed, group.need) for group in self.groups)
        return (least, self._priority(chosen & ~self.joined)) < (cost, priority)

    def _fewest_more(self, undecided: int, missing: list[int]) -> int:
        """Return a lower bound of the number of further warehouses.

        Compute one bound for the `LineGroup` that needs the most warehouses, one for groups without common
        warehouses, and one for all groups together. Return the largest bound.
        """
        for_one = together = apart = seen = 0
        shares: dict[int, float] = {}
        demands: list[tuple[int, int, int]] = []
        for number, units in enumerate(missing):
            if units <= 0:
                continue
            supply = self.groups[number].supply
            self.work += len(supply)
            offers = [(count, warehouse) for warehouse, count in supply.items() if undecided >> warehouse & 1]
            needed = _largest_needed([count for count, _ in offers], units)
            for_one = max(for_one, needed)
            demands.append((len(offers), needed, sum(1 << warehouse for _, warehouse in offers)))
            for count, warehouse in offers:
                shares[warehouse] = shares.get(warehouse, 0.0) + min(count, units) / units
        for _, needed, warehouses in sorted(demands):
            if not warehouses & seen:
                apart, seen = apart + needed, seen | warehouses
        total = len(demands) - 1e-9
        for share in sorted(shares.values(), reverse=True):
            if total <= 0:
                break
            total, together = total - share, together + 1
        return max(for_one, apart, together)

    # --- One set ---------------------------------------------------------------------------------

    def _keep(self, warehouses: int) -> None:
        """Keep a set that fills all line groups, if the set is better than the best set so far."""
        merit = self._merit(warehouses)
        if merit < self.merit:
            self.best, self.merit = warehouses, merit

    def _merit(self, warehouses: int) -> Merit:
        used = cost = 0
        for group in self.groups:
            _, price, units = self._fill(group, warehouses)
            cost += price
            for _, offer in units:
                used |= 1 << group.offers[offer].position
        new = used & ~self.joined
        return new.bit_count(), cost, self._priority(new)

    def _priority(self, warehouses: int) -> int:
        suppliers = {self.problem.warehouses[warehouse][0] for warehouse in positions(warehouses)}
        return sum(self.problem.priorities[each] for each in suppliers)

    def _lacking_by_flow(self, warehouses: int) -> list[int]:
        """Return the line groups that lack units from these warehouses, although the total stock is enough.

        This can occur if not every line accepts every offer.
        """
        return [n for n in self.mixed if self._fill(self.groups[n], warehouses)[0] < self.groups[n].need]

    def _fill(self, group: LineGroup, warehouses: int) -> tuple[int, int, Units]:
        before = group.effort
        found = fill(group, warehouses)
        self.work += group.effort - before
        return found

    def _fills(self, warehouses: int, missing: list[int]) -> bool:
        self.work += len(missing)
        return all(units <= 0 for units in missing) and not self._lacking_by_flow(warehouses)

    # --- Good sets to start from -----------------------------------------------------------------

    def _gain(self, warehouse: int, missing: list[int]) -> float:
        """Return the gain of adding the warehouse, for a comparison with other warehouses.

        The gain is a sum over the line groups: the share of the group's missing units that the warehouse has,
        at most 1.
        """
        self.work += len(self.supplies[warehouse])
        return sum(
            min(units, missing[number]) / missing[number]
            for number, units in self.supplies[warehouse]
            if missing[number] > 0
        )

    def _ranks(self) -> list[int]:
        """Return the rank of each warehouse, which decides between equal gains.

        Warehouses with more and cheaper offers come first.
        """
        dearness = [0.0] * len(self.supplies)
        for group in self.groups:
            least = group.offers[0].cost or 1
            for offer in group.offers:
                dearness[offer.position] += offer.cost / least - 2
        ranks = [0] * len(dearness)
        for rank, warehouse in enumerate(
            sorted(range(len(dearness)), key=lambda index: (dearness[index], index))
        ):
            ranks[warehouse] = rank
        return ranks

    def _greedy(self) -> int:
        """Add the warehouse with the largest gain until no units are missing."""
        chosen, missing = self.joined, self.missing(self.joined)
        undecided = positions(self.all & ~chosen)
        rest = [(-self._gain(warehouse, missing), self.rank[warehouse], warehouse) for warehouse in undecided]
        heapq.heapify(rest)
        while rest and not self._fills(chosen, missing):
            gain, rank, warehouse = heapq.heappop(rest)
            # A gain never grows, so an earlier value is an upper bound. Most gains need no new computation.
            now = -self._gain(warehouse, missing)
            if rest and now > gain and (now, rank) > rest[0][:2]:
                heapq.heappush(rest, (now, rank, warehouse))
                continue
            chosen |= 1 << warehouse
            for number, units in self.supplies[warehouse]:
                missing[number] -= units
        return chosen

    def _without_spare(self, warehouses: int) -> int:
        """Remove the warehouses that the set does not need. Try the warehouse with the last rank first."""
        missing = self.missing(warehouses)
        for warehouse in sorted(positions(warehouses & ~self.joined), key=lambda each: -self.rank[each]):
            if all(missing[number] + units <= 0 for number, units in self.supplies[warehouse]):
                fewer = warehouses & ~(1 << warehouse)
                if not self._lacking_by_flow(fewer):
                    warehouses = fewer
                    for number, units in self.supplies[warehouse]:
                        missing[number] += units
        return warehouses

    def _exchange(self) -> None:
        """Replace one or two warehouses by one other warehouse, as long as this improves the best set."""
        improved = True
        while improved and not self.work > self.most_work // 2:
            improved, before, missing = False, self.merit, self.missing(self.best)
            inside = positions(self.best & ~self.joined)
            pairs = [(one, other) for at, one in enumerate(inside) for other in inside[:at]]
            for leaving in [*pairs, *((one,) for one in inside)]:
                self._replace(leaving, missing)
                if self.merit < before:
                    improved = True
                    break

    def _replace(self, leaving: tuple[int, ...], missing: list[int]) -> None:
        """Try each warehouse that could replace the warehouses `leaving` in the best set."""
        kept, lacking = self.best, missing[:]
        for warehouse in leaving:
            kept &= ~(1 << warehouse)
            for number, units in self.supplies[warehouse]:
                lacking[number] += units
        self.work += len(lacking)
        hungry = next((number for number, units in enumerate(lacking) if units > 0), None)
        if hungry is None:
            return
        for warehouse, units in self.groups[hungry].supply.items():
            self.work += 1
            if units >= lacking[hungry] and warehouse not in leaving and not kept >> warehouse & 1:
                left = lacking[:]
                for number, count in self.supplies[warehouse]:
                    left[number] -= count
                if self._fills(kept | 1 << warehouse, left):
                    self._keep(kept | 1 << warehouse)


def _largest_needed(counts: list[int], units: int) -> int:
    """Return how many of the largest counts add up to `units`, or len(counts) + 1 if all are too few."""
    for number, count in enumerate(sorted(counts, reverse=True), 1):
        units -= count
        if units <= 0:
            return number
    return len(counts) + 1
