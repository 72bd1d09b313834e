"""Environments with sinks that no job has run: somebody may have forgotten ``execute``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyflink_on_spark._compat.call_site import CallSite
    from pyflink_on_spark._graph.transformation import Transformation


class Unexecuted:
    """The place of the first sink in each environment that waits to be executed."""

    def __init__(self) -> None:
        self._sinks: dict[int, CallSite | None] = {}

    def added(self, environment: int, transformation: Transformation) -> None:
        """Note that an operator was added to the environment with that number."""
        if transformation.sink is not None:
            self._sinks.setdefault(environment, transformation.call_site)

    def executed(self, environment: int) -> None:
        """Note that everything in an environment was run or discarded."""
        self._sinks.pop(environment, None)

    def first(self) -> CallSite | None:
        """Return where the first sink was added that no job has run, or None."""
        return next(iter(self._sinks.values()), None)


UNEXECUTED = Unexecuted()
