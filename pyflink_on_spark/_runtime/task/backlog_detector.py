"""When the sources of a subtask have been read up to now."""

from __future__ import annotations

_SHARE = 0.5
_FORGETS = 0.95


class BacklogDetector:
    """Tells from how many elements there are at once whether more is waiting.

    While a backlog is read, sources hand over as many elements as they ever do: as many as they
    may, or the bundles that they are made of. When only what has come in meanwhile is left, they
    are fewer. Nobody has to wait for more of them: they are read soon, in the next epoch.
    """

    __slots__ = ("_usual",)

    def __init__(self) -> None:
        self._usual = 0.0

    def caught_up(self, elements: int, limit: int) -> bool:
        """Take how many elements there were; tell whether that was all.

        Args:
            elements: how many came at once; more than 0.
            limit: how many might have come at most.
        """
        self._usual = max(float(elements), self._usual * _FORGETS)
        return elements < limit and elements < _SHARE * self._usual
