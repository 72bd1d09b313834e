"""The settings of a session that a query needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pyflink_on_spark._options.table import STATE_TTL


@dataclass(frozen=True)
class QuerySettings:
    """The settings of a session at the moment when a query is planned.

    Args:
        configuration: all of it.
        time_zone: by name.
        batch: whether the query runs in batch mode.
        parallelism: of operators, or None for the environment's.
    """

    configuration: Mapping[str, str] = field(default_factory=dict)
    time_zone: str = "UTC"
    batch: bool = False
    parallelism: int | None = None

    @property
    def state_ttl(self) -> int:
        """After how long without a change (ms) state is forgotten; 0 for never."""
        return STATE_TTL.read(self.configuration)
