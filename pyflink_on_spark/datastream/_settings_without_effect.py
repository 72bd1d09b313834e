"""Says which settings of checkpoints and state do nothing here: at execute(), and in setters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pyflink_on_spark.common._execution_options import SNAPSHOT_COMPRESSION
from pyflink_on_spark.common._option import Option, boolean_option, int_option
from pyflink_on_spark.common._option_text import option_text
from pyflink_on_spark.common._recorded import note_recorded
from pyflink_on_spark.common.configuration import Configuration
from pyflink_on_spark.datastream import _checkpoint_options as options

_FAMILIES = (
    "execution.checkpointing.",
    "execution.state-recovery.",
    "execution.savepoint",
    "state.",
)
_CHANGELOG = boolean_option("state.changelog.enabled", False)
_WITH_EFFECT = frozenset(
    option.key
    for option in (
        options.MODE,
        options.TIMEOUT,
        options.MIN_PAUSE,
        options.TOLERABLE_FAILURES,
        options.RETENTION,
        options.STORAGE,
        options.STORAGE_OLD,
        options.DIRECTORY,
        options.DIRECTORY_OLD,
        options.SAVEPOINT_DIRECTORY,
        options.SAVEPOINT_DIRECTORY_OLD,
        options.BACKEND,
        options.BACKEND_OLD,
        options.INCREMENTAL,
        options.INCREMENTAL_OLD,
        options.ASYNCHRONOUS,
        options.ROCKSDB_DIRECTORIES,
        _CHANGELOG,
    )
) | {
    "execution.checkpointing.interval",
    "execution.checkpointing.num-retained",
    "state.checkpoints.num-retained",
    "execution.state-recovery.path",
    "execution.savepoint.path",
    "execution.state-recovery.ignore-unclaimed-state",
    "execution.savepoint.ignore-unclaimed-state",
    "state.changelog.periodic-materialize.enabled",
    "state.changelog.periodic-materialize.interval",
    "state.backend.rocksdb.memory.fixed-per-slot",
    "state.backend.rocksdb.block.cache-size",
}

_ALIGNED = "what comes before a barrier is always worked off first"
_ONE_FILE = "a slot writes its state into one file"
_FROM_THE_FOLDER = "state is read from the checkpoint's folder"
_OWN_FOLDER = "the checkpoints of a job are always in a folder of its own"
_NEVER_CLAIMED = (
    "the checkpoint that a job begins with stays as it is; remove it when there are newer ones"
)
_OTHER_DATABASE = (
    "state is in another database than RocksDB; give it memory with "
    "state.backend.rocksdb.memory.fixed-per-slot"
)
_AFTER_THE_END = "checkpoints go on when a source has ended"


def _claims(key: str) -> Option[bool]:
    return Option(key, lambda mode: option_text(mode).upper() == "CLAIM", False)


_UNLESS_DEFAULT: tuple[tuple[Option[Any], str], ...] = (
    (options.UNALIGNED, _ALIGNED),
    (options.UNALIGNED_OLD, _ALIGNED),
    (options.UNALIGNED_FORCED, _ALIGNED),
    (options.ALIGNED_TIMEOUT, _ALIGNED),
    (options.ALIGNED_TIMEOUT_OLD, _ALIGNED),
    (options.MAX_CONCURRENT, "there is one checkpoint at a time"),
    (options.PREFER_CHECKPOINT, "the last checkpoint always counts"),
    (SNAPSHOT_COMPRESSION, "state is written as it is"),
    (options.INLINE_THRESHOLD, _ONE_FILE),
    (options.WRITE_BUFFER, _ONE_FILE),
    (boolean_option("execution.checkpointing.file-merging.enabled", False), _ONE_FILE),
    (boolean_option("execution.checkpointing.create-subdir", True), _OWN_FOLDER),
    (boolean_option("state.checkpoints.create-subdir", True), _OWN_FOLDER),
    (
        boolean_option("execution.checkpointing.checkpoints-after-tasks-finish", True),
        _AFTER_THE_END,
    ),
    (
        boolean_option("execution.checkpointing.checkpoints-after-tasks-finish.enabled", True),
        _AFTER_THE_END,
    ),
    (boolean_option("execution.checkpointing.local-backup.enabled", False), _FROM_THE_FOLDER),
    (boolean_option("execution.state-recovery.from-local", False), _FROM_THE_FOLDER),
    (boolean_option("state.backend.local-recovery", False), _FROM_THE_FOLDER),
    (_claims("execution.state-recovery.claim-mode"), _NEVER_CLAIMED),
    (_claims("execution.savepoint-restore-mode"), _NEVER_CLAIMED),
    (options.ROCKSDB_PREDEFINED, _OTHER_DATABASE),
    (options.ROCKSDB_THREADS, "each slot writes one file at a time"),
)
_OF_KEY = {option.key: (option, reason) for option, reason in _UNLESS_DEFAULT}
_OF_PREFIX = (
    ("execution.checkpointing.unaligned", _ALIGNED),
    ("execution.checkpointing.file-merging", _ONE_FILE),
    (
        "execution.checkpointing.interval-during-backlog",
        "no source says that it works off a backlog",
    ),
    ("state.backend.rocksdb", _OTHER_DATABASE),
    ("state.changelog", "changes are written with each checkpoint, and not between"),
    ("", "nothing here reads it"),
)
_FOR_FILES: tuple[Option[Any], ...] = (
    options.RETENTION,
    options.INCREMENTAL,
    options.INCREMENTAL_OLD,
    _CHANGELOG,
    int_option("execution.checkpointing.num-retained", 1),
    int_option("state.checkpoints.num-retained", 1),
)


def note_without_effect(configuration: Configuration, keys: Iterable[str] | None = None) -> None:
    """Log once for each setting of checkpoints and state that it has no effect.

    Args:
        configuration: with the settings.
        keys: which of them; None for all.

    Raises:
        ValueError: one has a value that it cannot have.
    """
    for key in sorted(configuration.to_dict() if keys is None else keys):
        if key.startswith(_FAMILIES) and key not in _WITH_EFFECT:
            reason = _reason(configuration, key)
            if reason is not None:
                note_recorded(f"The option {key}", reason)


def note_what_needs_files(configuration: Configuration) -> None:
    """Log what has no effect since the job's checkpoints are in no folder."""
    if options.read_first(configuration, options.DIRECTORY, options.DIRECTORY_OLD) is not None:
        return
    for option in _FOR_FILES:
        if configuration._read(option) != option.default:
            note_recorded(
                f"The option {option.key}",
                "checkpoints are whole in the driver's memory; set execution.checkpointing.dir",
            )


def _reason(configuration: Configuration, key: str) -> str | None:
    if key in _OF_KEY:
        option, reason = _OF_KEY[key]
        return reason if configuration._read(option) != option.default else None
    return next(
        reason
        for prefix, reason in _OF_PREFIX
        if not prefix or key == prefix or key.startswith(f"{prefix}.")
    )
