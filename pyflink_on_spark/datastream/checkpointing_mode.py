"""The guarantee that checkpoints give."""

from __future__ import annotations

from enum import Enum

from pyflink_on_spark._compat.missing_names import missing_name

__all__ = ["CheckpointingMode"]


class CheckpointingMode(Enum):
    """The guarantee of checkpoints about the effect of an element on the state.

    On Spark: the effect on state is exactly once in both modes.
    """

    EXACTLY_ONCE = 0
    AT_LEAST_ONCE = 1


__getattr__ = missing_name(__name__)
