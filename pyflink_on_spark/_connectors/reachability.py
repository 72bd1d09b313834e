"""Logs that a server cannot be reached, once, and that it is back, once."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

_log = logging.getLogger("pyflink_on_spark.connectors")


@dataclass
class _Outage:
    since: float
    waiting: set[int] = field(default_factory=set)
    reported: bool = False


_lock = threading.Lock()
_outages: dict[str, _Outage] = {}


class Reachability:
    """The reachability of a server, as one client sees it.

    All clients of a process that name the same server share one report: the first client that
    loses the server logs the loss, and the last one that finds it again logs the return.

    Args:
        server: the server as log lines name it, such as ``Kafka at broker:9092``.
        patience: the seconds after which a loss is logged; shorter ones are not logged at all.
        clock: returns seconds, and is never set back.
    """

    def __init__(
        self, server: str, patience: float = 0.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.server, self._patience, self._clock = server, patience, clock
        self.waiting = False
        """True while this client waits for the server."""

    def lost(self, reason: object) -> None:
        """Report an attempt to reach the server that has failed; only the first one is logged."""
        if self.waiting and not self._patience:
            return
        self.waiting = True
        now = self._clock()
        with _lock:
            outage = _outages.setdefault(self.server, _Outage(now))
            outage.waiting.add(id(self))
            report = not outage.reported and now - outage.since >= self._patience
            outage.reported |= report
        if report:
            begun = time.time() - (now - outage.since)
            since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(begun))
            _log.warning("waiting for %s since %s: %s", self.server, since, reason)

    def found(self) -> None:
        """Report that the server answers."""
        outage = self._leave()
        if outage is not None and outage.reported:
            seconds = self._clock() - outage.since
            _log.warning("%s is reachable again after %.0f s", self.server, seconds)

    def close(self) -> None:
        """Stop to wait for the server, without a report."""
        self._leave()

    def _leave(self) -> _Outage | None:
        """Return the outage if no other client waits for its end."""
        if not self.waiting:
            return None
        self.waiting = False
        with _lock:
            outage = _outages[self.server]
            outage.waiting.discard(id(self))
            return None if outage.waiting else _outages.pop(self.server)
