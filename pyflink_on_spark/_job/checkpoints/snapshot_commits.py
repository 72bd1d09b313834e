"""Commits what hosts' snapshots contain, under the names that sinks have in checkpoints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._job.checkpoints.commits import Commits
from pyflink_on_spark._job.checkpoints.hosts import HostSnapshot
from pyflink_on_spark._job.checkpoints.layout import sink_names
from pyflink_on_spark._runtime.checkpoints.checkpoint import Metadata, read_states
from pyflink_on_spark._runtime.checkpoints.folder import Folder
from pyflink_on_spark._runtime.checkpoints.slot_state import SlotState, operator_snapshots
from pyflink_on_spark._runtime.contract.connector import Sink
from pyflink_on_spark._runtime.contract.plan import OperatorPlan
from pyflink_on_spark._runtime.operators.sink import writer_snapshots

Committables = list[tuple[str, Any]]


class SnapshotCommits(Commits[str]):
    """The commits of a job with hosts.

    Args:
        operators: all of the job.
        sinks: the sinks by number, which hosts name them with.
    """

    def __init__(self, operators: Iterable[OperatorPlan], sinks: Mapping[int, Sink]) -> None:
        self._names = sink_names(operators)
        super().__init__({self._names[number]: sink for number, sink in sinks.items()})

    def named(self, prepared: Iterable[tuple[int, Any]]) -> Committables:
        """Return the committables under the names of their sinks."""
        return [(self._names[sink], thing) for sink, thing in prepared]

    def of_snapshots(self, answers: Mapping[int, HostSnapshot]) -> Committables:
        """Return what sinks have held back so far, and what hosts have prepared since."""
        prepared = (thing for host in sorted(answers) for thing in answers[host].committables)
        return self.with_held(self.named(prepared))

    def keep_for_savepoint(
        self, place: Folder, metadata: Metadata, answers: Mapping[int, HostSnapshot]
    ) -> None:
        """Let sinks keep what a savepoint references, while the job continues.

        Raises:
            CheckpointError: a sink cannot keep it.
        """
        try:
            self.keep([*self.of_snapshots(answers), *self._in_writers(place, metadata)])
        except Exception as error:
            raise CheckpointError(
                f"the savepoint {place.shown} was aborted: files that it needs cannot be kept: "
                f"{error}"
            ) from error

    def _in_writers(self, place: Folder, metadata: Metadata) -> Committables:
        """Return what a savepoint contains of writers that continue, for sinks that keep it."""
        names = self.keeping_snapshots()
        states = read_states(place, metadata) if names else SlotState()
        return [
            (name, thing)
            for name in names
            for thing in writer_snapshots(operator_snapshots(states, name))
        ]
