"""The rules by which a sink finishes a part file."""

from __future__ import annotations

from pyflink_on_spark._connectors.files import config as rolling
from pyflink_on_spark.common._java_handles import own_handle
from pyflink_on_spark.common.utils import JavaObjectWrapper


class RollingPolicy(JavaObjectWrapper):
    """The rule that finishes a part file and begins the next one.

    Args:
        j_rolling_policy: made by the static methods of this class.
    """

    def __init__(self, j_rolling_policy: object) -> None:
        call = f"{type(self).__name__}(j_rolling_policy)"
        super().__init__(own_handle(j_rolling_policy, rolling.RollingLimits, call))

    @staticmethod
    def default_rolling_policy(
        part_size: int = 1024 * 1024 * 128,
        rollover_interval: int = 60 * 1000,
        inactivity_interval: int = 60 * 1000,
    ) -> DefaultRollingPolicy:
        """Finish a part file by its size or age.

        Args:
            part_size: in bytes; a larger part file gets no further element.
            rollover_interval: in ms, since the creation of the part file.
            inactivity_interval: in ms, since the last write to the part file.

        Raises:
            TypeError: a limit is not an int.
            ValueError: a limit is not positive.
        """
        return DefaultRollingPolicy(
            rolling.RollingLimits(part_size, rollover_interval, inactivity_interval)
        )

    @staticmethod
    def on_checkpoint_rolling_policy() -> OnCheckpointRollingPolicy:
        """Finish a part file only at checkpoints and at the end of the job."""
        return OnCheckpointRollingPolicy(rolling.ON_CHECKPOINT)


class DefaultRollingPolicy(RollingPolicy):
    """Finishes a part file by its size or age.

    Args:
        j_rolling_policy: made by ``RollingPolicy``.
    """

    def __init__(self, j_rolling_policy: object) -> None:
        super().__init__(j_rolling_policy)


class OnCheckpointRollingPolicy(RollingPolicy):
    """Finishes a part file at checkpoints only.

    Args:
        j_rolling_policy: made by ``RollingPolicy``.
    """

    def __init__(self, j_rolling_policy: object) -> None:
        super().__init__(j_rolling_policy)
