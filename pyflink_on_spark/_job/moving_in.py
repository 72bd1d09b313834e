"""Begins a job with a savepoint of Flink."""

from __future__ import annotations

import logging
from collections.abc import Collection

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._graph.operator_hashes import flink_ids, operator_hashes
from pyflink_on_spark._graph.physical_graph import state_names
from pyflink_on_spark._graph.stream_graph import StreamGraph, Transformation, display_name
from pyflink_on_spark._job.job import Job
from pyflink_on_spark._options.checkpointing import IGNORE_UNCLAIMED
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import Folder
from pyflink_on_spark._runtime.coders import load
from pyflink_on_spark.flink_state import FlinkCheckpoint
from pyflink_on_spark.flink_state.conversion import Conversion, Heir, convert, node_of_table

_log = logging.getLogger("pyflink_on_spark")


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
    if found.damaged:
        reasons = "".join(f"\n  {reason}" for reason in found.damaged)
        raise CheckpointError(f"{path} is damaged:{reasons}")
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

    An operator without a uid is found by the id that Flink makes of the graph, or else by its name,
    if no other one of either job has that name.
    """
    graph = job.graph
    assert graph is not None
    names, hashes = state_names(graph), operator_hashes(graph)
    found = _found_by_graph(graph, checkpoint)
    found |= {hashed: node for node, hashed in hashes.items()}
    found |= _found_by_name(graph, checkpoint, {*hashes, *found.values()})
    pairs = _pairs_of_tables(graph, checkpoint)
    key_types = {plan.state_id: plan.key_type for plan in job.operators()}
    heirs = {
        hashed: Heir(
            names[node],
            key_types.get(names[node]),
            None if node.source is None else node.source.positions_of_flink,
            None if node.sink is None else node.sink.snapshots_of_flink,
        )
        for hashed, node in found.items()
    }
    return heirs | {
        hashed: node if isinstance(node, Heir) else _heir_of_table(names[node], node)
        for hashed, node in pairs.items()
    }


def _heir_of_table(name: str, node: Transformation) -> Heir:
    counterpart = node.counterpart
    assert counterpart is not None
    if counterpart.state is not None:
        return Heir(name, table=counterpart.state())
    return Heir(name, positions=None if node.source is None else node.source.positions_of_flink)


def _pairs_of_tables(
    graph: StreamGraph, checkpoint: FlinkCheckpoint
) -> dict[str, Transformation | Heir]:
    """Return the operators of tables, by the ids of those whose state they may take over.

    Flink gives them numbers in the order in which a query is read from its sources on, which is
    the order of the graph here. So the operators of one kind correspond if there are as many. An
    heir that takes over nothing says why.
    """
    flinks: dict[str, list[tuple[int, str]]] = {}
    for operator in checkpoint.metadata.operators:
        found = node_of_table(operator)
        if found is not None and checkpoint.has_state(operator):
            flinks.setdefault(found[0], []).append((found[1], operator.hash))
    pairs: dict[str, Transformation | Heir] = {}
    for kind, operators in flinks.items():
        ours = [
            node
            for node in graph.nodes
            if node.counterpart is not None and kind in node.counterpart.names
        ]
        hashes = [hashed for _, hashed in sorted(operators)]
        if len(ours) == len(hashes):
            pairs.update(zip(hashes, ours))
            continue
        why = (
            f"the savepoint has {len(hashes)} of the kind {kind}, and the job has {len(ours)} "
            "that can take over such state"
        )
        pairs.update((hashed, Heir("", refusal=why)) for hashed in hashes)
    return pairs


def _found_by_graph(graph: StreamGraph, checkpoint: FlinkCheckpoint) -> dict[str, Transformation]:
    """Return the operators without a uid of their own, by the ids that Flink makes of the graph.

    Where a part of the graph is another one, an operator has to have its name, too.
    """
    ids = flink_ids(graph)
    flinks = {operator.hash: operator.name for operator in checkpoint.metadata.operators}
    same = flinks.keys() <= ids.all
    return {
        hashed: node
        for node, hashed in ids.generated.items()
        if hashed in flinks and (same or _is_called(flinks[hashed] or "", display_name(node)))
    }


def _found_by_name(
    graph: StreamGraph, checkpoint: FlinkCheckpoint, named: Collection[Transformation]
) -> dict[str, Transformation]:
    """Return the operators that were not found and have a name of their own, by ids in Flink."""
    flinks = [operator for operator in checkpoint.metadata.operators if not operator.uid]
    owners: dict[str, list[Transformation]] = {}
    for node in graph.nodes:
        name = display_name(node)
        matches = [o.hash for o in flinks if _is_called(o.name or "", name)]
        if node not in named and len(matches) == 1:
            owners.setdefault(matches[0], []).append(node)
    return {hashed: nodes[0] for hashed, nodes in owners.items() if len(nodes) == 1}


def _is_called(flinks: str, ours: str) -> bool:
    """True if an operator of Flink, possibly a fusion of several, begins with one of ours."""
    return flinks == ours or flinks.startswith(f"{ours}, ")
