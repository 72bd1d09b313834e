"""When a part file is finished."""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_PART_SIZE = 128 * 1024 * 1024
DEFAULT_INTERVAL = 60 * 1000


@dataclass(frozen=True)
class RollingLimits:
    """The limits of a part file; None for no limit.

    Args:
        part_size: in bytes; a larger part file gets no further element.
        rollover_interval: in ms, since the creation of the part file.
        inactivity_interval: in ms, since the last write to the part file.
        on_checkpoint: whether each checkpoint finishes the part file.

    Raises:
        TypeError: a limit is not an int.
        ValueError: a limit is not positive.
    """

    part_size: int | None = DEFAULT_PART_SIZE
    rollover_interval: int | None = DEFAULT_INTERVAL
    inactivity_interval: int | None = DEFAULT_INTERVAL
    on_checkpoint: bool = False

    def __post_init__(self) -> None:
        for name in ("part_size", "rollover_interval", "inactivity_interval"):
            limit = getattr(self, name)
            if limit is None:
                continue
            if not isinstance(limit, int):
                raise TypeError(f"{name} must be an int, not {limit!r}")
            if limit <= 0:
                raise ValueError(f"{name} must be positive, not {limit}")

    def is_due(self, now: int, created: int, last_written: int) -> bool:
        """Whether a time limit has passed; all times in ms."""
        return _passed(self.rollover_interval, now - created) or _passed(
            self.inactivity_interval, now - last_written
        )

    def is_due_at_checkpoint(self, size: int) -> bool:
        """Whether a checkpoint finishes a part file of a size in bytes."""
        return self.on_checkpoint or (self.part_size is not None and size > self.part_size)


ON_CHECKPOINT = RollingLimits(None, None, None, on_checkpoint=True)


def _passed(limit: int | None, elapsed: int) -> bool:
    return limit is not None and elapsed >= limit
