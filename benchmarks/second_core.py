"""Prints what a second process gains for the bare Python loop of the keyed rolling sum.

    python -m benchmarks.second_core [--records 4000000] [--repeat 5]

Two processes make half of the numbers each, and send the records of each other's keys as pickled
lists. Nothing else is done for a record: no timestamp, no state backend, no check whether it can
change. So this is what an exchange in pure Python costs at least.
"""

from __future__ import annotations

import argparse
import multiprocessing
import pickle
import select
import socket
import statistics
import time
from collections.abc import Callable, Iterable

from benchmarks.jobs.keyed_reduce import KEYS, add, entry, is_last, key, loop

BUNDLE = 8_192
_LENGTH = 8


class _Peer:
    """The other process: lists of records go there and come from there, without waiting."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self._connection, self._received, self.ended = connection, bytearray(), False

    def exchange(self, records: list | None, take: Callable[[list], None]) -> None:
        """Send a list, or None as the end; take whatever comes meanwhile."""
        payload = pickle.dumps(records, 5)
        waiting = memoryview(len(payload).to_bytes(_LENGTH, "big") + payload)
        while waiting:
            readable, writable, _ = select.select([self._connection], [self._connection], [])
            if writable:
                waiting = waiting[self._connection.send(waiting) :]
            if readable:
                self._receive(take)

    def drain(self, take: Callable[[list], None]) -> None:
        """Take all that comes until the end."""
        while not self.ended:
            select.select([self._connection], [], [])
            self._receive(take)

    def _receive(self, take: Callable[[list], None]) -> None:
        received = self._received
        received += self._connection.recv(1 << 20)
        while len(received) >= _LENGTH:
            end = _LENGTH + int.from_bytes(received[:_LENGTH], "big")
            if len(received) < end:
                return
            records = pickle.loads(received[_LENGTH:end])
            del received[:end]
            if records is None:
                self.ended = True
            else:
                take(records)


def half(index: int, connection: socket.socket, records: int) -> int:
    """Do one process's part; return how many final sums it has."""
    peer, totals, finals = _Peer(connection), {}, 0
    keeps = is_last(records)
    owner = [group % 2 for group in range(KEYS)]

    def take(pairs: Iterable[tuple]) -> None:
        nonlocal finals
        for group, item in pairs:
            total = totals[group] = add(totals[group], item) if group in totals else item
            finals += keeps(total)

    first, last = 1 + index * records // 2, (index + 1) * records // 2
    for start in range(first, last + 1, BUNDLE):
        here: list = []
        there: list = []
        buffers = [here, there] if index == 0 else [there, here]
        for number in range(start, min(start + BUNDLE, last + 1)):
            item = entry(number)
            group = key(item)
            buffers[owner[group]].append((group, item))
        take(here)
        peer.exchange(there, take)
    peer.exchange(None, take)
    peer.drain(take)
    return finals


def seconds_of_two(records: int) -> float:
    """Return the time of two processes, without that of their start."""
    ends = socket.socketpair()
    context = multiprocessing.get_context("fork")
    ready, results = context.Barrier(3), context.SimpleQueue()

    def run(index: int) -> None:
        ready.wait()
        results.put(half(index, ends[index], records))

    processes = [context.Process(target=run, args=(index,)) for index in range(2)]
    for process in processes:
        process.start()
    ready.wait()
    began = time.perf_counter()
    finals = results.get() + results.get()
    took = time.perf_counter() - began
    for process in processes:
        process.join()
    assert finals == KEYS, finals
    return took


def seconds_of_one(records: int) -> float:
    """Return the time of the loop."""
    began = time.perf_counter()
    assert sum(1 for _ in loop(records)) == KEYS
    return time.perf_counter() - began


def main() -> None:
    """Measure by turns, and print the medians."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.second_core", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--records", type=int, default=4_000_000)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    records = options.records // (2 * KEYS) * 2 * KEYS
    measured = [(seconds_of_one(records), seconds_of_two(records)) for _ in range(options.repeat)]
    one, two = (records / statistics.median(seconds) for seconds in zip(*measured))
    print(f"one process: {one:,.0f} records/s; two: {two:,.0f} records/s; gain {two / one:.2f}")


if __name__ == "__main__":
    main()
