"""What a job's configuration says of its checkpoints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pyflink_on_spark._job.checkpoints.checkpoint_storage import read_storage
from pyflink_on_spark._job.checkpoints.state_settings import writes_changes
from pyflink_on_spark._options import checkpointing as options
from pyflink_on_spark._options import own, state
from pyflink_on_spark._options.notes import note_unmet_needs


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
        changed_state: what happens to state that means something else in the job.
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
    changed_state: str = own.REFUSE
    incremental: bool = False
    materialize_interval: int | None = None
    configuration: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, configuration: Mapping[str, str]) -> CheckpointSettings:
        """Return what a configuration says.

        Raises:
            ValueError: if an option cannot be read.
        """
        interval = options.INTERVAL.read(configuration)
        if interval is not None:
            note_unmet_needs(configuration, options.DIRECTORY)
        storage = read_storage(configuration)
        directory = None if storage is None else storage.checkpoint_path
        retention = options.RETENTION.read(configuration)
        return cls(
            interval=interval,
            minimum_pause=options.MIN_PAUSE.read(configuration),
            timeout=options.TIMEOUT.read(configuration),
            tolerable_failures=options.TOLERABLE_FAILURES.read(configuration),
            directory=directory,
            max_state_size=own.MAX_STATE_SIZE.read(configuration),
            retained=max(1, options.RETAINED.read(configuration)),
            kept_when_cancelled=retention == options.RETAIN_ON_CANCELLATION,
            kept_when_failed=retention != options.NO_RETENTION,
            savepoint_directory=options.SAVEPOINT_DIRECTORY.read(configuration),
            restore=options.RESTORE_PATH.read(configuration),
            ignore_unclaimed=options.IGNORE_UNCLAIMED.read(configuration),
            changed_state=own.CHANGED_STATE.read(configuration),
            incremental=directory is not None and writes_changes(configuration),
            materialize_interval=_materialize_interval(configuration),
            configuration=dict(configuration),
        )


def _materialize_interval(configuration: Mapping[str, str]) -> int | None:
    if state.CHANGELOG.read(configuration) and state.MATERIALIZE.read(configuration):
        return state.MATERIALIZE_INTERVAL.read(configuration)
    return None
