"""Writes a savepoint of Flink from one of ours, with which PyFlink starts the same job."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._graph.operator_hashes import operator_hashes
from pyflink_on_spark._graph.physical_graph import state_names
from pyflink_on_spark._job.job import Job
from pyflink_on_spark._runtime.checkpoints.checkpoint import METADATA, read_committables
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import Folder
from pyflink_on_spark._runtime.checkpoints.contents import (
    CheckpointContents,
    KeyGroupContents,
    key_group_contents,
)
from pyflink_on_spark._runtime.checkpoints.slot_state import (
    OperatorPart,
    operator_snapshots,
    positions_of,
)
from pyflink_on_spark._runtime.coders import integers, sized
from pyflink_on_spark._runtime.contract.plan import OperatorPlan
from pyflink_on_spark._runtime.operators.connected import BroadcastProcessOperator
from pyflink_on_spark._runtime.state.moved_in import ENCODED, MAP, PIECES
from pyflink_on_spark._runtime.state.operator_state import OperatorSnapshot
from pyflink_on_spark._runtime.state.snapshot import StateMeta
from pyflink_on_spark._runtime.windows.aligned_windows import FIRED_NAME
from pyflink_on_spark._runtime.windows.general_windows import STATE_NAME as MERGING
from pyflink_on_spark._runtime.windows.general_windows import WindowOperator
from pyflink_on_spark.flink_state.conversion import Conversion
from pyflink_on_spark.flink_state.key_writers import key_serializer
from pyflink_on_spark.flink_state.metadata import type_of_text
from pyflink_on_spark.flink_state.savepoint_files import (
    NO_NAMESPACE,
    PYTHON,
    WINDOWS,
    OperatorFiles,
    Pair,
    StateWriter,
    broadcast_pairs,
    key_groups_file,
    timer_pair,
    timers_text,
    write_metadata,
)

if TYPE_CHECKING:
    from pyflink_on_spark.common.typeinfo import TypeInformation


_COORDINATOR = 1
_REDUCE = (
    "its results of reduce(), sum() and the like: PyFlink starts those empty whenever a job is "
    "restored, so there is no place for them"
)
_PENDING = (
    "sinks have files or transactions that are not committed: start the job here with the "
    "savepoint, and stop it with a new one"
)


def move_out(
    job: Job, contents: CheckpointContents, place: Folder, *, leaves_out: bool = False
) -> Conversion:
    """Write a savepoint of Flink with the state of one of ours.

    Args:
        job: the job, whose own pickles are loaded. It is not run.
        contents: our savepoint, with the classes of the job.
        place: a folder without a savepoint.
        leaves_out: whether to leave out what Flink cannot take over.

    Returns:
        What was written, and what was not; both by operator.

    Raises:
        CheckpointError: the savepoint is damaged, there is a savepoint in the folder already, or
            Flink cannot take over all of the state.
    """
    if METADATA in place.names():
        raise CheckpointError(f"there is a checkpoint or savepoint in {place.shown} already")
    found = Conversion()
    written = [
        *_operators(job, contents, place, found),
        *_sources(job, contents, found),
    ]
    if read_committables(contents.place, contents.metadata):
        found.refused.append(_PENDING)
    if found.refused and not leaves_out:
        for operator in written:
            if operator.file is not None:
                place.remove(operator.file[0])
        reasons = "".join(f"\n  {reason}" for reason in found.refused)
        raise CheckpointError(f"Flink cannot take over all of {contents.path}:{reasons}")
    write_metadata(place, contents.metadata.checkpoint_id, written)
    return found


def _ids(job: Job) -> dict[str, str]:
    """Return the ids that operators have in Flink, by their stable names."""
    graph = job.graph
    assert graph is not None
    names = state_names(graph)
    return {names[node]: found for node, found in operator_hashes(graph).items()}


def _operators(
    job: Job, contents: CheckpointContents, place: Folder, found: Conversion
) -> Iterator[OperatorFiles]:
    plans = {plan.state_id: plan for plan in job.operators()}
    ids = _ids(job)
    for name, parts in contents.whole.operators.items():
        if not any(parts.values()):
            continue
        plan = plans.get(name)
        if plan is None:
            found.refused.append(f"the operator {name!r}: the job has no operator of this uid")
        elif name not in ids:
            found.refused.append(f"the operator {name!r}: it has no uid(), by which Flink finds it")
        else:
            operator = OperatorFiles(ids[name], next(iter(parts.values())).max_parallelism)
            try:
                entries = _Operator(plan, parts, contents).write(place, operator)
            except (TypeError, ValueError) as error:
                found.refused.append(f"the operator {name!r}: {error}")
                continue
            found.taken[name] = f"{entries:,} entries"
            yield operator


def _sources(job: Job, contents: CheckpointContents, found: Conversion) -> Iterator[OperatorFiles]:
    assert job.graph is not None
    names, ids = state_names(job.graph), _ids(job)
    nodes = {names[node]: node for node in job.graph.nodes if node.source is not None}
    for name, positions in contents.whole.sources.items():
        node = nodes.get(name)
        if node is None or node.source is None:
            found.refused.append(f"the source {name!r}: the job has no source of this uid")
        elif name not in ids:
            found.refused.append(f"the source {name!r}: it has no uid(), by which Flink finds it")
        else:
            try:
                version, enumerator = node.source.positions_for_flink(
                    positions_of(positions.values())
                )
            except ValueError as error:
                found.refused.append(f"the source {name!r}: {error}")
                continue
            found.taken[name] = "its positions"
            coordinator = integers(_COORDINATOR, version) + sized(enumerator)
            yield OperatorFiles(ids[name], job.graph.task_max_parallelism(node), coordinator)


class _Operator:
    """One operator on its way.

    Args:
        plan: the operator in the job.
        parts: its state.
        contents: our savepoint.

    Raises:
        TypeError: Flink has no keys of their type.
    """

    def __init__(
        self, plan: OperatorPlan, parts: Mapping[int, OperatorPart], contents: CheckpointContents
    ) -> None:
        self._plan, self._parts = plan, parts
        self._key = key_serializer(plan.key_type)
        self._load = contents.load
        self._snapshots = operator_snapshots(contents.whole, plan.state_id or "")
        operator = plan.operator
        self._namespaces = _NoWindows()
        if isinstance(operator, WindowOperator):
            self._namespaces = _Windows(operator)

    def write(self, place: Folder, operator: OperatorFiles) -> int:
        """Write the state; return the number of entries.

        Raises:
            TypeError: Flink has no state of a kind or of a type that is there.
            ValueError: a type is not known, or the state is of no function of PyFlink.
        """
        kind = "" if self._plan.meaning is None else self._plan.meaning.content.get("kind", "")
        if kind == "rolling results":
            raise ValueError(_REDUCE)
        operator.broadcast = self._broadcast()
        keyed = any(part.keyed for part in self._parts.values())
        if keyed and kind not in ("functions of a key", "windows"):
            raise ValueError("its state is not that of a Python function on a stream")
        count = sum(map(len, operator.broadcast.values()))
        return count + (self._write_keyed(place, operator) if keyed else 0)

    def _broadcast(self) -> dict[str, list[Pair]]:
        if any(found.split or found.union for found in self._snapshots):
            raise ValueError("Flink's Python functions have no state of lists without keys")
        snapshot = next((s for s in self._snapshots if s.broadcast), OperatorSnapshot())
        operator, types = self._plan.operator, {}
        if isinstance(operator, BroadcastProcessOperator):
            types = {found.get_name(): found.type_info for found in operator.descriptors()}
        written = {}
        for name, entries in snapshot.broadcast.items():
            plain = name.removeprefix(ENCODED)
            if plain != name:
                written[PYTHON + plain] = list(entries.items())
            elif plain in types:
                written[PYTHON + plain] = broadcast_pairs(entries, types[plain])
            else:
                raise ValueError(f"the job has no broadcast state {plain!r}")
        return written

    def _groups(self) -> Iterator[tuple[int, KeyGroupContents]]:
        for part in self._parts.values():
            for group in sorted(part.keyed):
                contents = key_group_contents(part.keyed[group], self._load)
                self._namespaces.complete(contents)
                if contents:
                    yield group, contents

    def _write_keyed(self, place: Folder, operator: OperatorFiles) -> int:
        writers = self._writers()
        queues = ("event", "processing")
        timers = {queue: timers_text(queue, self._namespaces.snapshot) for queue in queues}
        texts = [*(writer.text for writer in writers.values()), *timers.values()]
        count = 0
        with key_groups_file(place, operator, self._key.snapshot, texts) as file:
            for group, contents in self._groups():
                count += _entries(contents)
                found = [(writers[n].text, self._pairs(writers[n], contents, n)) for n in writers]
                for queue, text in timers.items():
                    found.append((text, self._timers(contents, queue)))
                file.write(group, found)
        return count

    def _writers(self) -> dict[str, StateWriter]:
        """Make the writers of the states that have entries.

        Raises:
            TypeError: Flink has no state of a kind or of a type that is there.
            ValueError: the type of a state is not known.
        """
        metas: dict[str, StateMeta] = {}
        in_windows: dict[str, set[bool]] = {}
        for _, contents in self._groups():
            metas |= contents.states
            for name, namespaces in contents.tables.items():
                of_windows = {space is not None for space, table in namespaces.items() if table}
                in_windows.setdefault(name, set()).update(of_windows)
        in_windows.pop(FIRED_NAME, None)
        writers = {}
        for name, of_windows in in_windows.items():
            if len(of_windows) > 1:
                raise ValueError(f"its state {name!r} is one of windows and of keys")
            if of_windows:
                namespace = self._namespaces.snapshot if True in of_windows else NO_NAMESPACE
                type_info = self._type(name, metas[name])
                writers[name] = StateWriter(name, metas[name], type_info, namespace)
        return writers

    def _type(self, name: str, meta: StateMeta) -> object:
        if name == self._namespaces.contents_name:
            return self._namespaces.contents_type
        if meta.kind in (PIECES, MAP):
            return None
        if meta.type is None:
            raise ValueError(f"the type of its state {name!r} is not known")
        return type_of_text(meta.type)

    def _pairs(self, writer: StateWriter, contents: KeyGroupContents, name: str) -> list[Pair]:
        pairs: list[Pair] = []
        namespaces, pairs_of = self._namespaces, writer.pairs_of
        for namespace, table in contents.tables.get(name, {}).items():
            for key, entry in table.items():
                place = self._key.write(key) + namespaces.write(namespace)
                pairs += [(place + rest, value) for rest, value in pairs_of(entry)]
        return pairs

    def _timers(self, contents: KeyGroupContents, queue: str) -> list[Pair]:
        write, namespaces = self._key.write, self._namespaces
        return [
            timer_pair(time, write(key), namespaces.write(namespace))
            for of_queue, time, key, namespace in contents.timers
            if of_queue == queue
        ]


def _entries(contents: KeyGroupContents) -> int:
    tables = [
        table
        for name, namespaces in contents.tables.items()
        if name != FIRED_NAME
        for table in namespaces.values()
    ]
    return sum(map(len, tables)) + len(contents.timers)


class _NoWindows:
    """The namespaces of an operator without windows: there is one."""

    snapshot = NO_NAMESPACE
    contents_name: str | None = None
    contents_type: TypeInformation | None = None

    def complete(self, contents: KeyGroupContents) -> None:
        """Do nothing."""

    def write(self, namespace: object) -> bytes:
        """Write a namespace."""
        if namespace is not None:
            raise ValueError(f"it has state of the namespace {namespace!r}, and no windows")
        return b"\0"


class _Windows(_NoWindows):
    """The windows of an operator.

    Args:
        operator: the operator, not opened.
    """

    def __init__(self, operator: WindowOperator) -> None:
        self._operator = operator
        description = self._description = operator.description()
        self._serializer = description.window_serializer
        kind = type(self._serializer).__name__.removesuffix("Serializer")
        if kind not in WINDOWS:
            raise TypeError(f"PyFlink cannot keep windows that {kind!r} writes")
        self.snapshot = WINDOWS[kind]
        self.contents_name = description.window_state_descriptor.get_name()
        self.contents_type = description.window_state_descriptor.type_info

    def complete(self, contents: KeyGroupContents) -> None:
        """Add the timers that Flink has where our operator needs none."""
        tables = contents.tables
        merging = tables.get(MERGING)
        if merging is not None and contents.states[MERGING].kind != MAP:
            for table in merging.values():
                for key, found in table.items():
                    table[key] = {self._bytes(a): self._bytes(b) for a, b in found.items()}
            contents.states[MERGING] = StateMeta(MAP, False)
        fired, left_out = tables.get(FIRED_NAME, {}), self._operator.times_left_out
        for window, table in tables.get(self.contents_name or "", {}).items():
            if isinstance(window, bytes):
                continue  # as Flink has written it, with its timers
            done = fired.get(window, {})
            for key in table:
                for time in left_out(self._description, window, fired=key in done):
                    contents.timers["event", time, key, window] = None

    def write(self, namespace: object) -> bytes:
        """Write a namespace, which is a window or None."""
        if namespace is None:
            return super().write(None)
        return self._bytes(namespace)

    def _bytes(self, window: object) -> bytes:
        if isinstance(window, bytes):
            return window
        buffer = io.BytesIO()
        self._serializer.serialize(window, buffer)
        return buffer.getvalue()
