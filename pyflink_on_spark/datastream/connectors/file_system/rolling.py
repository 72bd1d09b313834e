"""When a sink finishes a part file."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._connectors.files import rolling
from pyflink_on_spark.common._java_handles import own_handle
from pyflink_on_spark.common.utils import JavaObjectWrapper


class RollingPolicy(JavaObjectWrapper):
    """When a part file is finished and the next one begins.

    Args:
        j_rolling_policy: the runtime's policy; the methods below make it.
    """

    def __init__(self, j_rolling_policy: Any) -> None:
        call = f"{type(self).__name__}(j_rolling_policy)"
        super().__init__(own_handle(j_rolling_policy, rolling.RollingPolicy, call))

    @staticmethod
    def default_rolling_policy(
        part_size: int = 1024 * 1024 * 128,
        rollover_interval: int = 60 * 1000,
        inactivity_interval: int = 60 * 1000,
    ) -> DefaultRollingPolicy:
        """Finish a part file by its size or age.

        Args:
            part_size: in bytes; a part file that is larger takes no further element.
            rollover_interval: in ms, since the part file was begun.
            inactivity_interval: in ms, since it was last written to.

        Raises:
            TypeError: a limit is not an int.
            ValueError: it is not positive.
        """
        return DefaultRollingPolicy(
            rolling.RollingPolicy(part_size, rollover_interval, inactivity_interval)
        )

    @staticmethod
    def on_checkpoint_rolling_policy() -> OnCheckpointRollingPolicy:
        """Finish a part file at each checkpoint, and at the end of the job, only."""
        return OnCheckpointRollingPolicy(rolling.ON_CHECKPOINT)


class DefaultRollingPolicy(RollingPolicy):
    """Finishes a part file by its size or age.

    Args:
        j_rolling_policy: the runtime's policy.
    """

    def __init__(self, j_rolling_policy: Any) -> None:
        super().__init__(j_rolling_policy)


class OnCheckpointRollingPolicy(RollingPolicy):
    """Finishes a part file at each checkpoint only.

    Args:
        j_rolling_policy: the runtime's policy.
    """

    def __init__(self, j_rolling_policy: Any) -> None:
        super().__init__(j_rolling_policy)
