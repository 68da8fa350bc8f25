"""Which places ship: the fewest that fill all that can be filled, then the cheapest such set.

A branch and bound: a group of lines that is not filled yet must get one of the places that have something
for it, so those are tried in turn, each without the ones before it. It begins with a good set that was
found greedily, and stops where the work would be too much, with the best set until then. How much work
that is does not depend on the machine: the same order at the same stock always gets the same plan.
"""

from __future__ import annotations

import heapq

from fulfillments.planning.routing.filling import Pieces, cheapest, fill
from fulfillments.planning.routing.problem import Group, Problem, positions

MOST_WORK = 1_000_000
"""How many numbers are looked at before the search ends with what it has: 0.2 s or so."""

Merit = tuple[int, int, int]
"""New fulfillments, cost, and the sum of the suppliers' priorities: smaller is better."""


class Search:
    """The best places of a problem, as bits; those in `joined` have a fulfillment and count for nothing."""

    def __init__(self, problem: Problem, joined: int = 0, most_work: int = MOST_WORK) -> None:
        self.problem, self.groups, self.joined = problem, problem.groups, joined
        self.work, self.most_work = 0, most_work
        self.all = (1 << len(problem.places)) - 1
        self.mixed = [number for number, group in enumerate(self.groups) if not group.uniform]
        for group in self.groups:
            have = sum(group.supply.values())
            group.need = min(group.wanted, have) if group.uniform else self._fill(group, self.all)[0]
        self.supplies: list[list[tuple[int, int]]] = [[] for _ in problem.places]
        for number, group in enumerate(self.groups):
            for place, pieces in group.supply.items():
                self.supplies[place].append((number, pieces))
        self.turn = self._turns()
        self.best, self.merit = self.all, self._merit(self.all)

    @property
    def exhausted(self) -> bool:
        """Whether it ended with the best set so far, which need not be the best there is."""
        return self.work > self.most_work

    def run(self) -> int:
        """The best set of places that was found."""
        self._keep(self._without_spare(self._greedy()))
        self._exchange()
        self._branch(self.joined, self.all)
        return self.best

    def missing(self, places: int) -> list[int]:
        """What each group still lacks when these places ship; below 0 where they have more than it needs."""
        missing = [group.need for group in self.groups]
        for place in positions(places):
            self.work += len(self.supplies[place])
            for number, pieces in self.supplies[place]:
                missing[number] -= pieces
        return missing

    # --- All sets, as far as they could be better ------------------------------------------------

    def _branch(self, chosen: int, allowed: int) -> None:
        """Look at the sets that hold what is chosen, and nothing that is not allowed."""
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
        lacking = [number for number, pieces in enumerate(missing) if pieces > 0]
        lacking = lacking or self._lacking_by_flow(chosen)
        if not lacking:
            self._keep(chosen)
            return
        undecided = allowed & ~chosen
        options = min(
            ([place for place in self.groups[number].supply if undecided >> place & 1] for number in lacking),
            key=len,
        )
        for place in sorted(options, key=lambda each: (-self._gain(each, missing), self.turn[each])):
            self._branch(chosen | 1 << place, allowed)
            allowed &= ~(1 << place)

    def _forced(self, missing: list[int], undecided: int) -> int | None:
        """The places without which a group could not be filled; None where it cannot be in any case."""
        forced = 0
        for number, pieces in enumerate(missing):
            if pieces > 0:
                supply = self.groups[number].supply
                self.work += len(supply)
                offers = [(place, count) for place, count in supply.items() if undecided >> place & 1]
                spare = sum(count for _, count in offers) - pieces
                if spare < 0:
                    return None
                for place, count in offers:
                    if count > spare:
                        forced |= 1 << place
        return forced

    def _could_be_better(self, chosen: int, allowed: int, missing: list[int]) -> bool:
        """By the least that such a set needs: fulfillments first, then cost, then priorities."""
        count, cost, priority = self.merit
        fewest = (chosen & ~self.joined).bit_count() + self._fewest_more(allowed & ~chosen, missing)
        if fewest != count:
            return fewest < count
        self.work += sum(len(group.offers) for group in self.groups)
        least = sum(cheapest(group, allowed, group.need) for group in self.groups)
        return (least, self._priority(chosen & ~self.joined)) < (cost, priority)

    def _fewest_more(self, undecided: int, missing: list[int]) -> int:
        """So many more places are needed at least: for one group, for groups apart, for all together."""
        for_one = together = apart = seen = 0
        shares: dict[int, float] = {}
        demands: list[tuple[int, int, int]] = []
        for number, pieces in enumerate(missing):
            if pieces <= 0:
                continue
            supply = self.groups[number].supply
            self.work += len(supply)
            offers = [(count, place) for place, count in supply.items() if undecided >> place & 1]
            needed = _largest_needed([count for count, _ in offers], pieces)
            for_one = max(for_one, needed)
            demands.append((len(offers), needed, sum(1 << place for _, place in offers)))
            for count, place in offers:
                shares[place] = shares.get(place, 0.0) + min(count, pieces) / pieces
        for _, needed, places in sorted(demands):
            if not places & seen:
                apart, seen = apart + needed, seen | places
        total = len(demands) - 1e-9
        for share in sorted(shares.values(), reverse=True):
            if total <= 0:
                break
            total, together = total - share, together + 1
        return max(for_one, apart, together)

    # --- One set ---------------------------------------------------------------------------------

    def _keep(self, places: int) -> None:
        """Remember a set that fills everything, if it is better than the one before."""
        merit = self._merit(places)
        if merit < self.merit:
            self.best, self.merit = places, merit

    def _merit(self, places: int) -> Merit:
        used = cost = 0
        for group in self.groups:
            _, price, pieces = self._fill(group, places)
            cost += price
            for _, offer in pieces:
                used |= 1 << group.offers[offer].place
        new = used & ~self.joined
        return new.bit_count(), cost, self._priority(new)

    def _priority(self, places: int) -> int:
        suppliers = {self.problem.places[place][0] for place in positions(places)}
        return sum(self.problem.priorities[each] for each in suppliers)

    def _lacking_by_flow(self, places: int) -> list[int]:
        """Groups whose lines compete, and that lack pieces although there are enough of all together."""
        return [n for n in self.mixed if self._fill(self.groups[n], places)[0] < self.groups[n].need]

    def _fill(self, group: Group, places: int) -> tuple[int, int, Pieces]:
        before = group.effort
        found = fill(group, places)
        self.work += group.effort - before
        return found

    def _fills(self, places: int, missing: list[int]) -> bool:
        self.work += len(missing)
        return all(pieces <= 0 for pieces in missing) and not self._lacking_by_flow(places)

    # --- Good sets to begin with -----------------------------------------------------------------

    def _gain(self, place: int, missing: list[int]) -> float:
        """How much of what is missing a place has: 1 for each group that it fills alone."""
        self.work += len(self.supplies[place])
        return sum(
            min(pieces, missing[number]) / missing[number]
            for number, pieces in self.supplies[place]
            if missing[number] > 0
        )

    def _turns(self) -> list[int]:
        """Each place's turn among equals: those with more, and cheaper, goods come first."""
        dearness = [0.0] * len(self.supplies)
        for group in self.groups:
            least = group.offers[0].cost or 1
            for offer in group.offers:
                dearness[offer.place] += offer.cost / least - 2
        turns = [0] * len(dearness)
        for turn, place in enumerate(sorted(range(len(dearness)), key=lambda each: (dearness[each], each))):
            turns[place] = turn
        return turns

    def _greedy(self) -> int:
        """Ever the place that brings the most, until nothing is missing."""
        chosen, missing = self.joined, self.missing(self.joined)
        undecided = positions(self.all & ~chosen)
        rest = [(-self._gain(place, missing), self.turn[place], place) for place in undecided]
        heapq.heapify(rest)
        while rest and not self._fills(chosen, missing):
            gain, turn, place = heapq.heappop(rest)
            now = -self._gain(place, missing)  # what it brings only ever becomes less
            if rest and now > gain and (now, turn) > rest[0][:2]:
                heapq.heappush(rest, (now, turn, place))
                continue
            chosen |= 1 << place
            for number, pieces in self.supplies[place]:
                missing[number] -= pieces
        return chosen

    def _without_spare(self, places: int) -> int:
        """Without the places that can be spared, the last in turn first."""
        missing = self.missing(places)
        for place in sorted(positions(places & ~self.joined), key=lambda each: -self.turn[each]):
            if all(missing[number] + pieces <= 0 for number, pieces in self.supplies[place]):
                fewer = places & ~(1 << place)
                if not self._lacking_by_flow(fewer):
                    places = fewer
                    for number, pieces in self.supplies[place]:
                        missing[number] += pieces
        return places

    def _exchange(self) -> None:
        """Put one place in the stead of one or two, as long as that makes the set better."""
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
        """Try each single place that could stand for those that leave the best set."""
        kept, lacking = self.best, missing[:]
        for place in leaving:
            kept &= ~(1 << place)
            for number, pieces in self.supplies[place]:
                lacking[number] += pieces
        self.work += len(lacking)
        hungry = next((number for number, pieces in enumerate(lacking) if pieces > 0), None)
        if hungry is None:
            return
        for place, pieces in self.groups[hungry].supply.items():
            self.work += 1
            if pieces >= lacking[hungry] and place not in leaving and not kept >> place & 1:
                left = lacking[:]
                for number, count in self.supplies[place]:
                    left[number] -= count
                if self._fills(kept | 1 << place, left):
                    self._keep(kept | 1 << place)


def _largest_needed(counts: list[int], pieces: int) -> int:
    """How many of these counts make up so many pieces at least; one more than there are where none do."""
    for number, count in enumerate(sorted(counts, reverse=True), 1):
        pieces -= count
        if pieces <= 0:
            return number
    return len(counts) + 1
