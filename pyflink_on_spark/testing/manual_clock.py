"""Processing time that a test decides on."""

from __future__ import annotations

from pyflink_on_spark.testing.same_process import SameProcess


class ManualClock(SameProcess):
    """A clock that advances only when a test or function moves it.

    User functions may hold it and move it, too: it is not copied when they are pickled.

    Args:
        now: what it shows, in ms since the epoch.

    Example:
        >>> clock = ManualClock(1_000)
        >>> clock.advance(500)
        >>> clock.now()
        1500
    """

    def __init__(self, now: int = 0) -> None:
        super().__init__()
        self._now = now

    def now(self) -> int:
        """Return the time in ms since the epoch."""
        return self._now

    def set(self, now: int) -> None:
        """Set the time.

        Args:
            now: in ms since the epoch.

        Raises:
            ValueError: if that is in the past.
        """
        if now < self._now:
            raise ValueError(f"the clock shows {self._now} ms and cannot go back to {now} ms")
        self._now = now

    def advance(self, milliseconds: int) -> None:
        """Move the time forward.

        Args:
            milliseconds: by how much.

        Raises:
            ValueError: if it is negative.
        """
        self.set(self._now + milliseconds)

    def __repr__(self) -> str:
        return f"ManualClock({self._now})"
