"""Reads sources without a job: poll by poll, with checkpoints and restarts anywhere."""

from __future__ import annotations

import pickle
import time

from pyflink_on_spark._runtime.contract.operator import OperatorContext, RuntimeContext, TaskInfo
from pyflink_on_spark._runtime.elements.bundle import Bundle, Cursor
from pyflink_on_spark._runtime.elements.time import SystemClock


def context_of(subtask=0, parallelism=1, clock=None, restored=None):
    """Return the context of a reader's subtask."""
    task = TaskInfo("source", subtask, parallelism)
    clock = clock or SystemClock()
    return OperatorContext(
        task=task,
        cursor=Cursor(),
        clock=clock,
        side_output=None,
        driver=None,
        keyed_state=None,
        runtime_context=RuntimeContext(task, None, clock),
        restored=restored,
    )


def readers_of(source, parallelism, saved=None, clock=None, splits=None):
    """Open the readers of a source.

    Args:
        source: pickled first, as in a job.
        parallelism: how many readers.
        saved: what ``checkpoint`` returned, or None.
        clock: processing time.
        splits: what ``source.splits`` returned, if it was asked already.
    """
    source = pickle.loads(pickle.dumps(source))
    splits = source.splits(parallelism) if splits is None else splits
    return [
        source.reader(
            tuple(splits[index::parallelism]),
            saved,
            context_of(index, parallelism, clock, None if saved is None else 1),
        )
        for index in range(parallelism)
    ]


def checkpoint(readers, number=1):
    """Return the snapshots of all readers together."""
    saved = []
    for reader in readers:
        reader.prepare_checkpoint(number)
        saved += reader.snapshot()
    return pickle.loads(pickle.dumps(saved))


def take(readers, count, seconds=30):
    """Poll until there are so many elements."""
    found, until = [], time.monotonic() + seconds
    while len(found) < count:
        assert time.monotonic() < until, f"only {found}"
        for reader in readers:
            event = reader.poll()
            found += event.values if isinstance(event, Bundle) else []
    return found


def close(readers):
    """Close all readers."""
    for reader in readers:
        reader.close()
