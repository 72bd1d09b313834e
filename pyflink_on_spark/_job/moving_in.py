"""Begins a job with a savepoint of Flink."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable
from typing import TypeVar

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._graph.operator_hashes import operator_hashes
from pyflink_on_spark._graph.state_names import state_names
from pyflink_on_spark._graph.stream_graph import StreamGraph, display_name
from pyflink_on_spark._graph.transformation import Transformation
from pyflink_on_spark._job.submission.job import Job
from pyflink_on_spark._options.checkpointing import IGNORE_UNCLAIMED
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import Folder
from pyflink_on_spark._runtime.moved_in.coders import load
from pyflink_on_spark.flink_state import FlinkCheckpoint
from pyflink_on_spark.flink_state.conversion import Conversion, Heir, convert

_log = logging.getLogger("pyflink_on_spark")
T = TypeVar("T")


def moved_in(job: Job, path: str, place: Folder) -> Conversion:
    """Write a savepoint of ours with what a job takes over of a savepoint of Flink.

    Args:
        job: the job, whose own pickles are loaded.
        path: the savepoint of Flink.
        place: where ours goes.

    Raises:
        CheckpointError: the savepoint of Flink cannot be read.
    """
    checkpoint = FlinkCheckpoint(path, job.settings.configuration)
    heirs = _heirs(job, checkpoint)
    return convert(checkpoint, place, lambda operator: heirs.get(operator.hash), load)


def move_in(job: Job, path: str, place: Folder) -> None:
    """Do the same, and insist on all that there is, unless the job may leave something out.

    Raises:
        CheckpointError: the savepoint of Flink cannot be read, or not all of it is taken over.
    """
    found = moved_in(job, path, place)
    if found.refused and not IGNORE_UNCLAIMED.read(job.settings.configuration):
        reasons = "".join(f"\n  {reason}" for reason in found.refused)
        raise CheckpointError(
            f"the job cannot take over all of {path}:{reasons}\nSet {IGNORE_UNCLAIMED.key} to "
            "leave that out."
        )
    for reason in found.refused:
        _log.warning("left out: %s", reason)


def _heirs(job: Job, checkpoint: FlinkCheckpoint) -> dict[str, Heir]:
    """Return the operators of a job, by the ids that Flink gave them.

    An operator without a uid is found by its name, if no other one of either job has that name.
    """
    graph = job.graph
    assert graph is not None
    names, hashes = state_names(graph), operator_hashes(graph)
    found = {hashed: node for node, hashed in hashes.items()}
    flinks = _unique((o.name or "", o.hash) for o in checkpoint.metadata.operators if not o.uid)
    ours = _unique((_flinks_name(graph, node), node) for node in graph.nodes if node not in hashes)
    found |= {flinks[name]: node for name, node in ours.items() if name in flinks}
    key_types = {plan.state_id: plan.key_type for plan in job.operators()}
    return {
        hashed: Heir(
            names[node],
            key_types.get(names[node]),
            None if node.source is None else node.source.positions_of_flink,
            node.sink is not None,
        )
        for hashed, node in found.items()
    }


def _flinks_name(graph: StreamGraph, node: Transformation) -> str:
    return ", ".join(display_name(member) for member in graph.python_group(node))


def _unique(pairs: Iterable[tuple[str, T]]) -> dict[str, T]:
    """Return what has a name that nothing else has."""
    found = list(pairs)
    counts = Counter(name for name, _ in found)
    return {name: what for name, what in found if counts[name] == 1 and name}
