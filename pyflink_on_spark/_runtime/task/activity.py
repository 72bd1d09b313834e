"""How a subtask spends its time."""

from __future__ import annotations


class Activity:
    """How long a subtask has worked, and how long backpressure has held it up, in s.

    In the rest of the time it was idle, or another subtask of its host worked.
    """

    __slots__ = ("_backpressured", "busy", "held_since")

    def __init__(self) -> None:
        self.busy = 0.0
        self._backpressured = 0.0
        self.held_since: float | None = None

    def released(self, now: float) -> None:
        """Note that the subtask can work again."""
        self._backpressured = self.backpressured(now)
        self.held_since = None

    def held_up(self, now: float) -> None:
        """Note that the subtask could not work since those downstream have too much to do."""
        if self.held_since is None:
            self.held_since = now

    def backpressured(self, now: float) -> float:
        """Return for how long backpressure has held the subtask up."""
        since = self.held_since
        return self._backpressured + (0.0 if since is None else now - since)
