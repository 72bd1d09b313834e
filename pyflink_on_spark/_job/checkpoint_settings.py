"""What a job's configuration says of its checkpoints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pyflink_on_spark._job.state_settings import CHANGELOG, writes_changes
from pyflink_on_spark.common._option import (
    boolean_option,
    duration_option,
    int_option,
    string_option,
)
from pyflink_on_spark.common.configuration import Configuration
from pyflink_on_spark.datastream import _checkpoint_options as options
from pyflink_on_spark.datastream._settings_without_effect import note_what_needs_files
from pyflink_on_spark.datastream.checkpoint_config import CheckpointConfig
from pyflink_on_spark.datastream.checkpoint_storage import (
    FileSystemCheckpointStorage,
    JobManagerCheckpointStorage,
    read_checkpoint_storage,
)
from pyflink_on_spark.datastream.externalized_checkpoint_retention import (
    ExternalizedCheckpointRetention,
)

_RETAINED = int_option("execution.checkpointing.num-retained", 1)
_RETAINED_OLD = int_option("state.checkpoints.num-retained", 1)
_RESTORE = string_option("execution.state-recovery.path", None)
_RESTORE_OLD = string_option("execution.savepoint.path", None)
_IGNORE = boolean_option("execution.state-recovery.ignore-unclaimed-state", False)
_IGNORE_OLD = boolean_option("execution.savepoint.ignore-unclaimed-state", False)
_MATERIALIZE = boolean_option("state.changelog.periodic-materialize.enabled", True)
_MATERIALIZE_INTERVAL = duration_option(
    "state.changelog.periodic-materialize.interval", 10 * 60 * 1000
)
_IN_FILES = (FileSystemCheckpointStorage, JobManagerCheckpointStorage)


@dataclass(frozen=True)
class CheckpointSettings:
    """How checkpoints are made; times in ms.

    Args:
        interval: from the beginning of one to the next; None for none.
        minimum_pause: from the end of one to the beginning of the next.
        timeout: how long one may take.
        tolerable_failures: how many may fail before the job does.
        directory: the URI of a folder; None for the driver's memory.
        max_state_size: how many bytes of an operator's state a slot may keep in memory.
        retained: how many are kept while the job runs.
        kept_when_cancelled: whether the last one stays when the job is cancelled.
        kept_when_failed: whether it stays when the job fails.
        savepoint_directory: where savepoints go if nothing else is said.
        restore: a checkpoint or savepoint to begin with.
        ignore_unclaimed: whether state of operators that are gone may be left out.
        incremental: whether a checkpoint has only what has changed since the one before.
        materialize_interval: how often one is whole nevertheless; None for only when it pays.
        configuration: all of it; says how file systems are reached.
    """

    interval: int | None
    minimum_pause: int
    timeout: int
    tolerable_failures: int
    directory: str | None
    max_state_size: int
    retained: int
    kept_when_cancelled: bool
    kept_when_failed: bool
    savepoint_directory: str | None
    restore: str | None
    ignore_unclaimed: bool
    incremental: bool = False
    materialize_interval: int | None = None
    configuration: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, configuration: Mapping[str, str]) -> CheckpointSettings:
        """Return what a configuration says.

        Raises:
            ValueError: if an option cannot be read.
        """
        values = Configuration.from_dict(dict(configuration))
        config = CheckpointConfig(values)  # type: ignore[no-untyped-call]
        interval = config.get_checkpoint_interval()
        storage = read_checkpoint_storage(values)
        directory = storage.get_checkpoint_path() if isinstance(storage, _IN_FILES) else None
        if interval > 0:
            note_what_needs_files(values)
        retention = values._read(options.RETENTION)
        changelog = values._read(CHANGELOG)
        return cls(
            interval=interval if interval > 0 else None,
            minimum_pause=config.get_min_pause_between_checkpoints(),
            timeout=config.get_checkpoint_timeout(),
            tolerable_failures=config.get_tolerable_checkpoint_failure_number(),
            directory=directory,
            max_state_size=values._read(options.MAX_STATE_SIZE),
            retained=max(1, options.read_first(values, _RETAINED, _RETAINED_OLD)),
            kept_when_cancelled=retention is ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION,
            kept_when_failed=retention
            is not ExternalizedCheckpointRetention.NO_EXTERNALIZED_CHECKPOINTS,
            savepoint_directory=options.read_first(
                values, options.SAVEPOINT_DIRECTORY, options.SAVEPOINT_DIRECTORY_OLD
            ),
            restore=options.read_first(values, _RESTORE, _RESTORE_OLD),
            ignore_unclaimed=options.read_first(values, _IGNORE, _IGNORE_OLD),
            incremental=directory is not None and writes_changes(values),
            materialize_interval=values._read(_MATERIALIZE_INTERVAL)
            if changelog and values._read(_MATERIALIZE)
            else None,
            configuration=dict(configuration),
        )
