"""Hands the splits of a job's sources out to the readers that ask for them."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from pyflink_on_spark._runtime.checkpoints.checkpoint import Restore, restored_positions
from pyflink_on_spark._runtime.contract.connector import SplitEnumerator, UnreadSplit
from pyflink_on_spark._runtime.contract.plan import StagePlan
from pyflink_on_spark._runtime.elements.clock import Clock

_Reader = tuple[int, int]
"""The number of a subtask, and that of the chain whose source it reads."""


class Deliver(Protocol):
    """Brings splits to a reader, without waiting."""

    def __call__(
        self, subtask_id: int, chain: int, splits: Sequence[UnreadSplit], *, at_once: bool
    ) -> None:
        """Bring splits to a chain's source in a subtask, in the order of the calls."""
        ...


class _Source:
    """A source whose readers ask for splits.

    Args:
        enumerator: has its splits.
    """

    def __init__(self, enumerator: SplitEnumerator) -> None:
        self.enumerator = enumerator
        self.waiting: dict[_Reader, int] = {}
        """How many splits readers wait for, in the order in which they asked."""
        self.searched: int | None = None
        """When the last search was (ms)."""

    def due_in(self, now: int) -> int | None:
        """Return the milliseconds until the next search; None if there is none."""
        interval = self.enumerator.interval
        if interval is None or self.searched is None:
            return None if interval is None else 0
        return 0 if now < self.searched else max(0, self.searched + interval - now)

    def handed_out(self) -> dict[_Reader, list[UnreadSplit]]:
        """Deal splits to the readers that wait, one at a time, and return what each gets.

        Who gets something waits no more.
        """
        dealt: dict[_Reader, list[UnreadSplit]] = {}
        open_to = list(self.waiting.items())
        while open_to:
            for reader, _ in open_to:
                split = self.enumerator.take()
                if split is None:
                    open_to = []
                    break
                dealt.setdefault(reader, []).append(split)
            open_to = [(reader, count) for reader, count in open_to if count > len(dealt[reader])]
        for reader in dealt:
            del self.waiting[reader]
        return dealt


class SplitDistribution:
    """The enumerators of a job's sources, for one attempt. Its methods may be called in any thread.

    Args:
        stages: those of the job.
        restore: the checkpoint to begin with; None for a fresh start.
        configuration: says how to reach the folder.
        deliver: brings splits to readers.
        clock: says when to search for splits.
    """

    def __init__(
        self,
        stages: Sequence[StagePlan],
        restore: Restore | None,
        configuration: Mapping[str, str],
        deliver: Deliver,
        clock: Clock,
    ) -> None:
        self._deliver, self._clock = deliver, clock
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._error: BaseException | None = None
        self._sources: dict[str, _Source] = {}
        self._readers: dict[_Reader, _Source] = {}
        found = [
            (vertex, index, chain)
            for stage in stages
            for vertex in stage.vertices
            for index, chain in enumerate(vertex.chains)
            if chain.source is not None and chain.source.asked
        ]
        restored = restored_positions(restore, {c.source_id for *_, c in found}, configuration)
        for vertex, index, chain in found:
            assert chain.source is not None
            enumerator = chain.source.enumerator(restored.get(chain.source_id))
            source = self._sources[chain.source_id] = _Source(enumerator)
            for subtask in range(vertex.parallelism):
                self._readers[vertex.first_subtask_id + subtask, index] = source

    def __bool__(self) -> bool:
        return bool(self._sources)

    def request(self, subtask_id: int, chain: int, count: int) -> None:
        """Give a reader the next splits, up to ``count``; if there is none, when there is one."""
        with self._lock:
            source = self._readers[subtask_id, chain]
            source.waiting[subtask_id, chain] = count
            self._hand_out(source, at_once=True)

    def search(self) -> None:
        """Search for splits, where it is time to, and hand them out.

        Raises:
            Exception: what the attempt fails with.
        """
        for source in self._sources.values():
            now = self._clock.now()
            if source.due_in(now) == 0:
                source.searched = now
                splits = source.enumerator.search()
                with self._lock:
                    source.enumerator.found(splits)
                    self._hand_out(source, at_once=False)

    def search_in_background(self) -> None:
        """Search in a thread of its own until ``close``; ``check`` raises what fails."""
        if any(source.enumerator.interval is not None for source in self._sources.values()):
            threading.Thread(target=self._search_on, name="splits", daemon=True).start()

    def check(self) -> None:
        """Raise the error of a search in the background, or of another part."""
        if self._error is not None:
            raise self._error

    def fail(self, error: BaseException) -> None:
        """Let ``check`` raise an error."""
        self._error = self._error or error

    def close(self) -> None:
        """Search no more."""
        self._over.set()

    @contextmanager
    def checkpoint(self) -> Iterator[dict[str, list[Any]]]:
        """Hold splits back while a checkpoint is ordered; ``with`` has the part of the driver.

        The part has, for the stable name of each source, what its enumerator has. Readers get the
        order of the checkpoint inside ``with``: after all splits that were handed out before, and
        before those that are handed out later.
        """
        with self._lock:
            yield {name: source.enumerator.snapshot() for name, source in self._sources.items()}

    def _hand_out(self, source: _Source, *, at_once: bool) -> None:
        for (subtask_id, chain), splits in source.handed_out().items():
            self._deliver(subtask_id, chain, splits, at_once=at_once)

    def _search_on(self) -> None:
        try:
            while not self._over.is_set():
                self.search()
                now = self._clock.now()
                waits = [source.due_in(now) for source in self._sources.values()]
                self._over.wait(min(wait for wait in waits if wait is not None) / 1000)
        except BaseException as error:  # noqa: BLE001 - the driver's thread raises it
            self.fail(error)
