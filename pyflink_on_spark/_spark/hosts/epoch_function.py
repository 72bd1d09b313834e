"""What a Spark task runs in an epoch: brings the rows of one level to the slot hosts, and on."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import pyarrow as pa

from pyflink_on_spark._runtime.immutability import serialize
from pyflink_on_spark._runtime.task.exchange import Row
from pyflink_on_spark._runtime.task.level import DRIVER, START
from pyflink_on_spark._runtime.user_code.failure import SubtaskFailure
from pyflink_on_spark._spark.jobs.level_function import FAILURE_BEGINS, FAILURE_ENDS
from pyflink_on_spark._spark.transport.arrow_rows import batches_of_rows, rows_of_batches
from pyflink_on_spark._spark.transport.handshake import Address
from pyflink_on_spark._spark.transport.rpc import RpcConnection, connect

_CHUNK_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True)
class Epoch:
    """What an epoch is.

    Args:
        number: counted from 0 in each attempt.
        seconds: how long sources are read at most.
        draining: whether sources that never end shall end now.
    """

    number: int
    seconds: float
    draining: bool = False


@dataclass(frozen=True)
class EpochFunction:
    """Runs one level in one epoch; what ``mapInArrow`` calls.

    Args:
        epoch: the epoch.
        slots: the slot of each target of this level.
        later: in level 0, all targets of deeper levels: each takes part in each epoch.
        hosts: where each slot's host listens.
        first: whether this is level 0.
    """

    epoch: Epoch
    slots: dict[int, int]
    later: tuple[int, ...]
    hosts: dict[int, Address]
    first: bool

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Turn the rows of one partition into those that leave it."""
        try:
            rows = self._read(batches) if self.first else self._run(rows_of_batches(batches))
            yield from batches_of_rows(rows)
        except SubtaskFailure as failure:
            raise SubtaskFailure(f"{FAILURE_BEGINS}{failure}{FAILURE_ENDS}") from None

    def _read(self, batches: Iterator[pa.RecordBatch]) -> Iterator[Row]:
        """Read the sources of whole slots; the numbers that come in stand for them."""
        count = 1 + max(self.slots.values())
        for batch in batches:
            for number in batch.column(0).to_pylist():
                slot = number % count
                if slot == 0:
                    yield from (Row(later, START, 0, b"") for later in self.later)
                targets = [target for target, where in self.slots.items() if where == slot]
                with self._wire(slot) as wire:
                    yield from self._poll(wire, targets)

    def _poll(self, wire: RpcConnection, targets: list[int]) -> Iterator[Row]:
        for target in targets:
            _ask(wire, "begin", target, self.epoch.number)
        wire.send("poll", targets, self.epoch.seconds, self.epoch.draining)
        while found := _answer(wire):
            yield from found
        for target in targets:
            yield from self._finish(wire, target)

    def _run(self, rows: Iterator[Row]) -> Iterator[Row]:
        for target, group in itertools.groupby(rows, attrgetter("target")):
            slot = self.slots.get(target)
            if slot is None:
                yield from group
                continue
            with self._wire(slot) as wire:
                yield from self._exchange(wire, target, group)

    def _exchange(self, wire: RpcConnection, target: int, rows: Iterator[Row]) -> Iterator[Row]:
        _ask(wire, "begin", target, self.epoch.number)
        for chunk in _chunks(row for row in rows if row.channel != START):
            yield from _ask(wire, "rows", target, chunk)
        yield from self._finish(wire, target)

    def _finish(self, wire: RpcConnection, target: int) -> Iterator[Row]:
        left, report = _ask(wire, "finish", target)
        yield from left
        yield Row(DRIVER, target, 0, serialize(report))

    @contextlib.contextmanager
    def _wire(self, slot: int) -> Iterator[RpcConnection]:
        wire = connect(self.hosts[slot], f"the host of slot {slot}")
        try:
            yield wire
        finally:
            wire.close()


def _chunks(rows: Iterator[Row]) -> Iterator[list[Row]]:
    chunk: list[Row] = []
    size = 0
    for row in rows:
        chunk.append(row)
        size += len(row.payload)
        if size >= _CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _ask(wire: RpcConnection, *request: Any) -> Any:
    wire.send(*request)
    return _answer(wire)


def _answer(wire: RpcConnection) -> Any:
    kind, content = wire.receive()
    if kind == "failed":
        raise SubtaskFailure(content)
    return content
