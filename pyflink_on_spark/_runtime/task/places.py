"""Which subtasks follow which: whom those that have too much to do hold up."""

from __future__ import annotations

from collections.abc import Iterable

from pyflink_on_spark._runtime.contract.plan import LocalPlan, StagePlan

Place = tuple[int, ...]
"""The number of subtask 0 of a vertex, of a chain there, and of a task in a chain that is cut."""


class Places:
    """The chains of a job, and what follows each.

    Args:
        stages: the job's.
    """

    def __init__(self, stages: Iterable[StagePlan]) -> None:
        vertices = [vertex for stage in stages for vertex in stage.vertices]
        receivers = {
            channel.exchange.first_channel: (vertex.first_subtask_id, channel.chain)
            for vertex in vertices
            for channel in vertex.inputs
        }
        self._next: dict[Place, set[Place]] = {
            (vertex.first_subtask_id, index): {
                (vertex.first_subtask_id, output.edge.chain)
                if isinstance(output.edge, LocalPlan)
                else receivers[output.edge.first_channel]
                for output in chain.outputs
                if isinstance(output.edge, LocalPlan) or output.edge.first_channel in receivers
            }
            for vertex in vertices
            for index, chain in enumerate(vertex.chains)
        }
        self._after: dict[Place, frozenset[Place]] = {}
        self._of: dict[int, Place] = {}

    def put(self, number: int, place: Place) -> None:
        """Note where the part of a subtask with a number is."""
        self._of[number] = place

    def of(self, number: int, task: int) -> Place:
        """Return where a task is that comes from the part with a number, which task 0 stays."""
        place = self._of[number]
        if not task:
            return place
        cut = *place, task
        if cut not in self._next:
            self._next[cut] = self._next[place]
            self._next[place] = self._next[place] | {cut}
            self._after.clear()
        return cut

    def leads_to_any(self, number: int, others: Iterable[int]) -> bool:
        """Whether what a part sends reaches one of others, at once or later."""
        after, of = self._all_after(self._of[number]), self._of
        return any(of[other] in after for other in others)

    def _all_after(self, place: Place) -> frozenset[Place]:
        found = self._after.get(place)
        if found is None:
            reached, left = set[Place](), list(self._next[place])
            while left:
                each = left.pop()
                if each not in reached:
                    reached.add(each)
                    left += self._next[each]
            found = self._after[place] = frozenset(reached)
        return found
