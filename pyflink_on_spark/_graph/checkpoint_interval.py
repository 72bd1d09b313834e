"""How often a job makes checkpoints."""

from __future__ import annotations

from collections.abc import Mapping

from pyflink_on_spark.common._option import duration_option
from pyflink_on_spark.common.configuration import Configuration

NO_INTERVAL = -1
INTERVAL = duration_option("execution.checkpointing.interval", NO_INTERVAL)


def checkpoint_interval(settings: Mapping[str, str]) -> int | None:
    """Return the ms from the beginning of one checkpoint to the next; None for none.

    Args:
        settings: the job's configuration.

    Raises:
        ValueError: if the option cannot be read.
    """
    interval = Configuration.from_dict(dict(settings))._read(INTERVAL)
    return interval if interval > 0 else None
