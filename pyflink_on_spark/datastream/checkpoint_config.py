"""The settings of checkpoints."""

from __future__ import annotations

from enum import Enum
from typing import Any, ClassVar, TypeVar

from pyflink_on_spark._compat.arguments import own_handle
from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._options import checkpointing as options
from pyflink_on_spark._options import flink
from pyflink_on_spark._options.option import Option
from pyflink_on_spark.common.configuration import Configuration, OptionsView
from pyflink_on_spark.common.time import Duration
from pyflink_on_spark.datastream.checkpoint_storage import (
    CheckpointStorage,
    FileSystemCheckpointStorage,
    read_checkpoint_storage,
    write_checkpoint_storage,
)
from pyflink_on_spark.datastream.checkpointing_mode import CheckpointingMode
from pyflink_on_spark.datastream.externalized_checkpoint_retention import (
    ExternalizedCheckpointRetention,
)

__all__ = ["CheckpointConfig", "ExternalizedCheckpointCleanup"]

T = TypeVar("T")

_NO_INTERVAL = -1
_CHECKED_BY_CONFIGURE: tuple[Option[Any], ...] = (
    flink.RUNTIME_MODE,
    options.INTERVAL,
    options.MODE,
    options.TIMEOUT,
    options.MIN_PAUSE,
    options.MAX_CONCURRENT,
    options.TOLERABLE_FAILURES,
    options.RETENTION,
    options.UNALIGNED,
    options.UNALIGNED_FORCED,
    options.ALIGNED_TIMEOUT,
)


class ExternalizedCheckpointCleanup(Enum):
    """Flink 1.x's name for ``ExternalizedCheckpointRetention``."""

    DELETE_ON_CANCELLATION = 0
    RETAIN_ON_CANCELLATION = 1
    NO_EXTERNALIZED_CHECKPOINTS = 2


class CheckpointConfig(OptionsView):
    """The settings of checkpoints: a view of the options ``execution.checkpointing.*``.

    Args:
        j_checkpoint_config: the configuration that holds the options.
    """

    _checked = _CHECKED_BY_CONFIGURE

    DEFAULT_MODE: ClassVar[CheckpointingMode] = CheckpointingMode.EXACTLY_ONCE
    DEFAULT_TIMEOUT: ClassVar[int] = 10 * 60 * 1000
    DEFAULT_MIN_PAUSE_BETWEEN_CHECKPOINTS: ClassVar[int] = 0
    DEFAULT_MAX_CONCURRENT_CHECKPOINTS: ClassVar[int] = 1

    def __init__(self, j_checkpoint_config):
        call = "CheckpointConfig(j_checkpoint_config)"
        super().__init__(own_handle(j_checkpoint_config, Configuration, call))

    def is_checkpointing_enabled(self) -> bool:
        """True if an interval is set."""
        return self.get_checkpoint_interval() > 0

    def get_checkpointing_mode(self) -> CheckpointingMode:
        """Return the guarantee; AT_LEAST_ONCE when nothing is checkpointed, as in BATCH mode."""
        batch = self._read(flink.RUNTIME_MODE) == flink.BATCH
        if batch or not self.is_checkpointing_enabled():
            return CheckpointingMode.AT_LEAST_ONCE
        return CheckpointingMode[self._read(options.MODE)]

    def set_checkpointing_mode(self, checkpointing_mode: CheckpointingMode) -> CheckpointConfig:
        """Set the guarantee.

        On Spark: recorded; the effect on state is always exactly once.
        """
        _require(checkpointing_mode, CheckpointingMode, "set_checkpointing_mode")
        return self._write(options.MODE, checkpointing_mode.name)

    def get_checkpoint_interval(self) -> int:
        """Return the time between checkpoints in milliseconds; -1 when there are none."""
        interval = self._read(options.INTERVAL)
        return _NO_INTERVAL if interval is None else interval

    def set_checkpoint_interval(self, checkpoint_interval: int) -> CheckpointConfig:
        """Set the time between checkpoints, which turns them on.

        Args:
            checkpoint_interval: milliseconds, at least 10.

        Raises:
            ValueError: it is less.
        """
        _require(checkpoint_interval, int, "set_checkpoint_interval")
        return self._write(options.INTERVAL, checkpoint_interval)

    def get_checkpoint_timeout(self) -> int:
        """Return how long a checkpoint may take, in milliseconds."""
        return self._read(options.TIMEOUT)

    def set_checkpoint_timeout(self, checkpoint_timeout: int) -> CheckpointConfig:
        """Set how long a checkpoint may take.

        Args:
            checkpoint_timeout: milliseconds, at least 10.

        Raises:
            ValueError: it is less.
        """
        _require(checkpoint_timeout, int, "set_checkpoint_timeout")
        return self._write(options.TIMEOUT, checkpoint_timeout)

    def get_min_pause_between_checkpoints(self) -> int:
        """Return the shortest time from a checkpoint's end to the next, in milliseconds."""
        return self._read(options.MIN_PAUSE)

    def set_min_pause_between_checkpoints(
        self, min_pause_between_checkpoints: int
    ) -> CheckpointConfig:
        """Set the shortest time from a checkpoint's end to the next.

        Args:
            min_pause_between_checkpoints: milliseconds.

        Raises:
            ValueError: it is negative.
        """
        pause = min_pause_between_checkpoints
        _require(pause, int, "set_min_pause_between_checkpoints")
        return self._write(options.MIN_PAUSE, pause)

    def get_max_concurrent_checkpoints(self) -> int:
        """Return how many checkpoints may be made at a time."""
        return self._read(options.MAX_CONCURRENT)

    def set_max_concurrent_checkpoints(self, max_concurrent_checkpoints: int) -> CheckpointConfig:
        """Set how many checkpoints may be made at a time.

        Raises:
            ValueError: it is less than 1.

        On Spark: recorded; there is one at a time.
        """
        _require(max_concurrent_checkpoints, int, "set_max_concurrent_checkpoints")
        return self._write(options.MAX_CONCURRENT, max_concurrent_checkpoints)

    def is_fail_on_checkpointing_errors(self) -> bool:
        """True if the first failed checkpoint makes the job fail."""
        return self.get_tolerable_checkpoint_failure_number() == 0

    def set_fail_on_checkpointing_errors(
        self, fail_on_checkpointing_errors: bool
    ) -> CheckpointConfig:
        """Set whether the first checkpoint that fails makes the job fail, or none ever does."""
        tolerable = 0 if fail_on_checkpointing_errors else 2**31 - 1
        return self.set_tolerable_checkpoint_failure_number(tolerable)

    def get_tolerable_checkpoint_failure_number(self) -> int:
        """Return how many checkpoints in a row may fail before the job does."""
        return self._read(options.TOLERABLE_FAILURES)

    def set_tolerable_checkpoint_failure_number(
        self, tolerable_checkpoint_failure_number: int
    ) -> CheckpointConfig:
        """Set how many checkpoints in a row may fail before the job does.

        Raises:
            ValueError: it is negative.
        """
        number = tolerable_checkpoint_failure_number
        _require(number, int, "set_tolerable_checkpoint_failure_number")
        return self._write(options.TOLERABLE_FAILURES, number)

    def set_externalized_checkpoint_retention(
        self, retention_mode: ExternalizedCheckpointRetention
    ) -> CheckpointConfig:
        """Set what becomes of checkpoints when the job is cancelled."""
        _require(
            retention_mode, ExternalizedCheckpointRetention, "set_externalized_checkpoint_retention"
        )
        return self._write(options.RETENTION, retention_mode.name)

    def is_externalized_checkpoints_enabled(self) -> bool:
        """True if checkpoints are retained in any case."""
        return (
            self.get_externalized_checkpoint_retention()
            is not ExternalizedCheckpointRetention.NO_EXTERNALIZED_CHECKPOINTS
        )

    def get_externalized_checkpoint_retention(self) -> ExternalizedCheckpointRetention | None:
        """Return the retention of checkpoints after the job is cancelled."""
        return ExternalizedCheckpointRetention[self._read(options.RETENTION)]

    def enable_externalized_checkpoints(
        self, cleanup_mode: ExternalizedCheckpointCleanup
    ) -> CheckpointConfig:
        """Set what becomes of checkpoints when the job is cancelled (Flink 1.x)."""
        return self.set_externalized_checkpoint_cleanup(cleanup_mode)

    def set_externalized_checkpoint_cleanup(
        self, cleanup_mode: ExternalizedCheckpointCleanup
    ) -> CheckpointConfig:
        """Set what becomes of checkpoints when the job is cancelled (Flink 1.x)."""
        _require(cleanup_mode, ExternalizedCheckpointCleanup, "set_externalized_checkpoint_cleanup")
        return self._write(options.RETENTION, cleanup_mode.name)

    def get_externalized_checkpoint_cleanup(self) -> ExternalizedCheckpointCleanup | None:
        """Return the retention of checkpoints after the job is cancelled (Flink 1.x)."""
        return ExternalizedCheckpointCleanup[self._read(options.RETENTION)]

    def is_prefer_checkpoint_for_recovery(self) -> bool:
        """True if a restart prefers a checkpoint to a newer savepoint (Flink 1.x)."""
        return self._read(options.PREFER_CHECKPOINT)

    def set_prefer_checkpoint_for_recovery(
        self, prefer_checkpoint_for_recovery: bool
    ) -> CheckpointConfig:
        """Set whether a checkpoint is taken even if a savepoint is newer (Flink 1.x).

        On Spark: recorded; a job always recovers from its latest checkpoint.
        """
        _require(prefer_checkpoint_for_recovery, bool, "set_prefer_checkpoint_for_recovery")
        return self._write(options.PREFER_CHECKPOINT, prefer_checkpoint_for_recovery)

    def is_unaligned_checkpoints_enabled(self) -> bool:
        """True if unaligned checkpoints are enabled and the mode is EXACTLY_ONCE."""
        exactly_once = self.get_checkpointing_mode() is CheckpointingMode.EXACTLY_ONCE
        return exactly_once and self._read(options.UNALIGNED)

    def enable_unaligned_checkpoints(self, enabled: bool = True) -> CheckpointConfig:
        """Set whether checkpoints are unaligned.

        On Spark: recorded, without effect.
        """
        _require(enabled, bool, "enable_unaligned_checkpoints")
        return self._write(options.UNALIGNED, enabled)

    def disable_unaligned_checkpoints(self) -> CheckpointConfig:
        """Have checkpoints aligned."""
        return self.enable_unaligned_checkpoints(False)

    def set_aligned_checkpoint_timeout(self, alignment_timeout: Duration) -> CheckpointConfig:
        """Set after which time an aligned checkpoint becomes an unaligned one.

        On Spark: recorded, without effect.
        """
        _require(alignment_timeout, Duration, "set_aligned_checkpoint_timeout")
        return self._write(options.ALIGNED_TIMEOUT, alignment_timeout._to_millis())

    def get_aligned_checkpoint_timeout(self) -> Duration:
        """Return after which time an aligned checkpoint becomes an unaligned one."""
        return Duration.of_millis(self._read(options.ALIGNED_TIMEOUT))

    def set_alignment_timeout(self, alignment_timeout: Duration) -> CheckpointConfig:
        """Do the same as ``set_aligned_checkpoint_timeout``."""
        return self.set_aligned_checkpoint_timeout(alignment_timeout)

    def get_alignment_timeout(self) -> Duration:
        """Do the same as ``get_aligned_checkpoint_timeout``."""
        return self.get_aligned_checkpoint_timeout()

    def set_force_unaligned_checkpoints(
        self, force_unaligned_checkpoints: bool = True
    ) -> CheckpointConfig:
        """Set whether checkpoints are unaligned even where Flink advises against it.

        On Spark: recorded, without effect.
        """
        _require(force_unaligned_checkpoints, bool, "set_force_unaligned_checkpoints")
        return self._write(options.UNALIGNED_FORCED, force_unaligned_checkpoints)

    def is_force_unaligned_checkpoints(self) -> bool:
        """True if checkpoints are unaligned even where Flink advises against it."""
        return self._read(options.UNALIGNED_FORCED)

    def set_checkpoint_storage(self, storage: CheckpointStorage) -> CheckpointConfig:
        """Set where checkpoints are stored (Flink 1.x)."""
        _require(storage, CheckpointStorage, "set_checkpoint_storage")
        write_checkpoint_storage(self._configuration, storage)
        return self

    def set_checkpoint_storage_dir(self, checkpoint_path: str) -> CheckpointConfig:
        """Set the folder in which checkpoints are stored (Flink 1.x).

        Args:
            checkpoint_path: a URI with a scheme, such as ``file:///data/checkpoints``.
        """
        return self.set_checkpoint_storage(FileSystemCheckpointStorage(checkpoint_path))

    def get_checkpoint_storage(self) -> CheckpointStorage | None:
        """Return where checkpoints are stored; None when nothing was said (Flink 1.x)."""
        return read_checkpoint_storage(self._configuration)


def _require(value: object, kind: type, method: str) -> None:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise TypeError(f"{method}() takes a {kind.__name__}, not a {type(value).__name__}")


__getattr__ = missing_name(__name__)
