"""What sinks have prepared and the driver has not committed: to be thrown away if the job fails."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pyflink_on_spark._job.checkpoints.commits import Commits
from pyflink_on_spark._runtime.contract.connector import Sink
from pyflink_on_spark._runtime.elements.immutability import deserialize

PREPARED = "prepared"
"""The name of the channel through which tasks say what they have prepared."""


class PreparedCommits:
    """Collects what tasks have prepared, and ends with a commit or an abort.

    Tasks say it at once, since what they return is lost if another task fails.

    Args:
        sinks: the job's sinks by number.
    """

    def __init__(self, sinks: Mapping[int, Sink]) -> None:
        self._commits = Commits(sinks)
        self._told: set[bytes] = set()
        self._aborted = False
        self._lock = threading.Lock()

    def add(self, payloads: Iterable[bytes]) -> None:
        """Take note of what tasks have prepared; after an abort it is thrown away at once."""
        with self._lock:
            self._told.update(payloads)
            if self._aborted:
                self._throw_away()

    def commit(self, payloads: Iterable[bytes]) -> None:
        """Make visible what the tasks of the job returned; what others prepared is thrown away."""
        wanted = list(payloads)
        with self._lock:
            self._commits.checkpoint_complete(_unsealed(wanted), 0, final=True)
            self._commits.commit()
            self._told.difference_update(wanted)
            self._throw_away()

    def abort(self) -> None:
        """Throw everything away."""
        with self._lock:
            self._aborted = True
            self._throw_away()

    def _throw_away(self) -> None:
        told, self._told = self._told, set()
        self._commits.abort(thing for payload in told for thing in deserialize(payload))


def _unsealed(payloads: Iterable[bytes]) -> Iterator[tuple[int, Any]]:
    for payload in payloads:
        yield from deserialize(payload)
