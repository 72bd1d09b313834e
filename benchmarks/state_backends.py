"""Keyed state of one subtask: access, checkpoints whole and of changes, and restoring.

    python -m benchmarks.state_backends [--keys 100000] [--changed 0.01] [--dicts]

Runs in this process, without Spark: what is measured is what a host does for one subtask, in
processor time. With --dicts only access is measured, with fewer and with all keys, beside a dict
by hand: what both lose with more keys are misses of the processor's caches.
"""

from __future__ import annotations

import argparse
import gc
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from pyflink_on_spark._runtime.checkpoints.checkpoint import complete, read_states
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import StateFile, folder
from pyflink_on_spark._runtime.checkpoints.slot_state import OperatorSubtaskState, TaskStateSnapshot
from pyflink_on_spark._runtime.checkpoints.snapshot_writer import BASE, DELTA, SnapshotWriter
from pyflink_on_spark._runtime.elements.immutability import deserialize
from pyflink_on_spark._runtime.elements.time import SystemClock
from pyflink_on_spark._runtime.state.backend import KeyedStateBackend
from pyflink_on_spark._runtime.state.disk import DiskSettings, DiskStore
from pyflink_on_spark.common import Types
from pyflink_on_spark.datastream.state import ValueStateDescriptor

_OPERATOR = "operator"


def new_backend(memory: int | None) -> KeyedStateBackend:
    """Return a backend in memory, or on disk with so much memory (bytes)."""
    disk = None if memory is None else DiskStore(DiskSettings(memory))
    return KeyedStateBackend(SystemClock(), track_changes=True, disk=disk)


def update(backend: KeyedStateBackend, keys: Any) -> None:
    """Read and write the state of some keys."""
    state = backend.value_state(ValueStateDescriptor("count", Types.PICKLED_BYTE_ARRAY()))
    for backend.key in keys:
        count, name = state.value() or (0, f"user {backend.key}")
        state.update((count + 1, name))


def checkpoint(backend: KeyedStateBackend, where: str, number: int, contents: str) -> StateFile:
    """Write a checkpoint's state file."""
    writer = SnapshotWriter(number, f"{where}/chk-{number}", contents, 0, {})
    pieces = writer.taken(backend)
    writer.write(0, TaskStateSnapshot(number, {_OPERATOR: OperatorSubtaskState(pieces)}))
    file, _ = writer.finish()
    assert isinstance(file, StateFile)
    return file


def copied(backend: KeyedStateBackend, where: str) -> None:
    """Print how long a whole checkpoint by a copy of this process lets the subtask wait."""
    writer = SnapshotWriter(1, f"{where}/chk-1", BASE, 0, {}, few=0)
    gc.disable()
    begun = time.perf_counter()
    pieces = writer.taken(backend)
    writer.write(0, TaskStateSnapshot(1, {_OPERATOR: OperatorSubtaskState(pieces)}))
    waited = time.perf_counter() - begun
    writer.finish()
    took = time.perf_counter() - begun
    gc.enable()
    print(
        f"  whole checkpoint by a copy: waits {waited * 1000:.0f} ms, is there after {took:.1f} s"
    )


def restore(where: str, files: list[StateFile], memory: int | None) -> KeyedStateBackend:
    """Restore state from a base and deltas."""
    place = folder(f"{where}/chk-{len(files)}")
    metadata = complete(
        place, checkpoint_id=1, job_id="", job_name="", time=0, savepoint=False,
        files=files, committables=[],
    )  # fmt: skip
    part = read_states(place, metadata).operators[_OPERATOR][0]
    backend = new_backend(memory)
    backend.restore(deserialize(c.read()) for pieces in part.keyed.values() for c in pieces)  # type: ignore[union-attr]
    return backend


def timed(what: str, count: int | None, function: Callable[[], Any]) -> Any:
    """Print how long something takes; return what it returns."""
    gc.disable()  # as hosts do
    begun = time.process_time()
    result = function()
    gc.enable()
    took = time.process_time() - begun
    rate = "" if count is None else f"{count / took:12,.0f} a second"
    size = f"{result.size / 1e6:9.2f} MB" if isinstance(result, StateFile) else ""
    print(f"  {what:<42}{took:8.3f} s{rate}{size}")
    return result


def measure(name: str, keys: int, changed: float, memory: int | None) -> None:
    """Measure one kind of backend."""
    print(f"{name}, {keys:,} keys")
    backend = new_backend(memory)
    order = random.Random(1).sample(range(keys), keys)
    few = random.Random(2).sample(range(keys), max(1, int(keys * changed)))
    timed("first update of each key", keys, lambda: update(backend, order))
    order.reverse()
    timed("read and update each key, in random order", keys, lambda: update(backend, order))
    with tempfile.TemporaryDirectory() as where:
        copied(backend, where)
        base = timed("whole checkpoint", None, lambda: checkpoint(backend, where, 1, BASE))
        update(backend, few)
        delta = timed(
            f"checkpoint of changes ({changed:.0%} of the keys)",
            None,
            lambda: checkpoint(backend, where, 2, DELTA),
        )
        timed("restore from both", keys, lambda: restore(where, [base, delta], memory))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"  peak memory of the process so far: {peak} MB")


def update_dict(counts: dict[int, tuple[int, str]], keys: Any) -> None:
    """Do by hand what ``update`` does."""
    for key in keys:
        count, name = counts.get(key) or (0, f"user {key}")
        counts[key] = count + 1, name


def beside_dicts(keys: int) -> None:
    """Print the rates of access in random order, with fewer and with all keys."""
    for count in (keys // 1000, keys // 100, keys // 10, keys):
        order = random.Random(1).sample(range(count), count)
        print(f"in memory, {count:,} keys, in random order")
        backend, counts = new_backend(None), dict[int, tuple[int, str]]()
        update(backend, order)
        update_dict(counts, order)
        order.reverse()
        rounds = max(1, 1_000_000 // count)
        for name, access in (
            ("state", partial(update, backend)),
            ("a dict", partial(update_dict, counts)),
        ):
            timed(
                f"read and update each key of {name}",
                rounds * count,
                partial(access, order * rounds),
            )


def main(arguments: list[str]) -> None:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, default=100_000)
    parser.add_argument("--changed", type=float, default=0.01, help="share of the keys (0 to 1)")
    parser.add_argument("--memory", type=int, default=64, help="of state on disk, in MB")
    parser.add_argument("--dicts", action="store_true", help="access, beside a dict by hand")
    given = parser.parse_args(arguments)
    if given.dicts:
        beside_dicts(given.keys)
        return
    measure("on disk", given.keys, given.changed, given.memory * 1024 * 1024)
    measure("in memory", given.keys, given.changed, None)


if __name__ == "__main__":
    main(sys.argv[1:])
