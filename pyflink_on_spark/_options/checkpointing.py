"""The options of checkpoints and savepoints, and of the recovery from them."""

from __future__ import annotations

from pyflink_on_spark._options.kinds import (
    at_least,
    boolean,
    choice,
    double,
    duration,
    integer,
    long,
    memory,
    text,
)
from pyflink_on_spark._options.option import recorded, works

_SHORTEST_MS = 10
EXACTLY_ONCE = "EXACTLY_ONCE"
NO_RETENTION = "NO_EXTERNALIZED_CHECKPOINTS"
RETAIN_ON_CANCELLATION = "RETAIN_ON_CANCELLATION"

ALIGNED = recorded("the barriers of a checkpoint are always aligned")
ONE_FILE = recorded("each slot writes its state into one file")
FROM_THE_FOLDER = recorded("state is restored from the checkpoint's folder")

DIRECTORY = text(
    "execution.checkpointing.dir",
    None,
    former=("state.checkpoints.dir", "state.backend.fs.checkpointdir"),
)
NEEDS_FOLDER = works("checkpoints are complete in the driver's memory", needs=DIRECTORY)


def _too_short(what: str) -> str:
    return f"{what} must be larger than or equal to {_SHORTEST_MS} ms"


INTERVAL = duration(
    "execution.checkpointing.interval",
    None,
    check=at_least(_SHORTEST_MS, _too_short("Checkpoint interval")),
)
INTERVAL_DURING_BACKLOG = duration(
    "execution.checkpointing.interval-during-backlog",
    None,
    effect=recorded("no source reports that it processes a backlog"),
)
MODE = choice(
    "execution.checkpointing.mode",
    (EXACTLY_ONCE, "AT_LEAST_ONCE"),
    EXACTLY_ONCE,
    effect=works("state is updated exactly once in both modes"),
)
TIMEOUT = duration(
    "execution.checkpointing.timeout",
    600_000,
    check=at_least(_SHORTEST_MS, _too_short("Checkpoint timeout")),
)
MIN_PAUSE = duration(
    "execution.checkpointing.min-pause",
    0,
    check=at_least(0, "Pause value must be zero or positive"),
)
MAX_CONCURRENT = integer(
    "execution.checkpointing.max-concurrent-checkpoints",
    1,
    effect=recorded("there is one checkpoint at a time"),
    check=at_least(1, "The maximum number of concurrent attempts must be at least one."),
)
TOLERABLE_FAILURES = integer(
    "execution.checkpointing.tolerable-failed-checkpoints",
    0,
    check=at_least(0, "The tolerable failure checkpoint number must be non-negative."),
)
RETENTION = choice(
    "execution.checkpointing.externalized-checkpoint-retention",
    ("DELETE_ON_CANCELLATION", RETAIN_ON_CANCELLATION, NO_RETENTION),
    NO_RETENTION,
    effect=NEEDS_FOLDER,
)
RETAINED = integer(
    "execution.checkpointing.num-retained",
    1,
    former=("state.checkpoints.num-retained",),
    effect=NEEDS_FOLDER,
)
INCREMENTAL = boolean(
    "execution.checkpointing.incremental",
    False,
    former=("state.backend.incremental",),
    effect=NEEDS_FOLDER,
)
SAVEPOINT_DIRECTORY = text(
    "execution.checkpointing.savepoint-dir",
    None,
    former=("state.savepoints.dir", "savepoints.state.backend.fs.dir"),
)
STORAGE = text(
    "execution.checkpointing.storage",
    None,
    former=("state.checkpoint-storage",),
    effect=works("`filesystem` or `jobmanager`, which is the driver's memory"),
)

UNALIGNED = boolean(
    "execution.checkpointing.unaligned.enabled",
    False,
    former=("execution.checkpointing.unaligned",),
    effect=ALIGNED,
)
UNALIGNED_FORCED = boolean("execution.checkpointing.unaligned.forced", False, effect=ALIGNED)
UNALIGNED_TIMERS = boolean(
    "execution.checkpointing.unaligned.interruptible-timers.enabled", False, effect=ALIGNED
)
UNALIGNED_CHANNEL_FILES = integer(
    "execution.checkpointing.unaligned.max-subtasks-per-channel-state-file", 5, effect=ALIGNED
)
UNALIGNED_OUTPUT = boolean(
    "execution.checkpointing.unaligned.recover-output-on-downstream.enabled",
    False,
    effect=ALIGNED,
)
ALIGNED_TIMEOUT = duration(
    "execution.checkpointing.aligned-checkpoint-timeout",
    0,
    former=("execution.checkpointing.alignment-timeout",),
    effect=ALIGNED,
)
PREFER_CHECKPOINT = boolean(
    "execution.checkpointing.prefer-checkpoint-for-recovery",
    False,
    effect=recorded("a job always recovers from its latest checkpoint"),
)
SNAPSHOT_COMPRESSION = boolean(
    "execution.checkpointing.snapshot-compression",
    False,
    effect=recorded("state is written as it is"),
)
INLINE_THRESHOLD = memory(
    "execution.checkpointing.data-inline-threshold",
    20 * 1024,
    former=("state.storage.fs.memory-threshold", "state.backend.fs.memory-threshold"),
    effect=ONE_FILE,
)
WRITE_BUFFER = integer(
    "execution.checkpointing.write-buffer-size",
    4096,
    former=("state.storage.fs.write-buffer-size", "state.backend.fs.write-buffer-size"),
    effect=ONE_FILE,
)
FILE_MERGING = boolean("execution.checkpointing.file-merging.enabled", False, effect=ONE_FILE)
FILE_MERGING_ACROSS = boolean(
    "execution.checkpointing.file-merging.across-checkpoint-boundary", False, effect=ONE_FILE
)
FILE_MERGING_SIZE = memory(
    "execution.checkpointing.file-merging.max-file-size", 32 * 1024**2, effect=ONE_FILE
)
FILE_MERGING_SPACE = double(
    "execution.checkpointing.file-merging.max-space-amplification", 2.0, effect=ONE_FILE
)
FILE_MERGING_SUBTASKS = integer(
    "execution.checkpointing.file-merging.max-subtasks-per-file", 4, effect=ONE_FILE
)
FILE_MERGING_BLOCKING = boolean(
    "execution.checkpointing.file-merging.pool-blocking", False, effect=ONE_FILE
)
CREATE_SUBDIRECTORY = boolean(
    "execution.checkpointing.create-subdir",
    True,
    former=("state.checkpoints.create-subdir",),
    effect=recorded("each job writes its checkpoints into a folder of its own"),
)
CLEANER_IN_PARALLEL = boolean(
    "execution.checkpointing.cleaner.parallel-mode",
    True,
    former=("state.checkpoint.cleaner.parallel-mode",),
    effect=recorded("the driver removes the files of old checkpoints one after the other"),
)
AFTER_TASKS_FINISH = boolean(
    "execution.checkpointing.checkpoints-after-tasks-finish",
    True,
    former=("execution.checkpointing.checkpoints-after-tasks-finish.enabled",),
    effect=recorded("checkpoints continue after a source has finished"),
)
DURING_RECOVERY = boolean("execution.checkpointing.during-recovery.enabled", False, effect=ALIGNED)
LOCAL_BACKUP = boolean(
    "execution.checkpointing.local-backup.enabled", False, effect=FROM_THE_FOLDER
)
LOCAL_BACKUP_DIRECTORIES = text(
    "execution.checkpointing.local-backup.dirs",
    None,
    former=("taskmanager.state.local.root-dirs",),
    effect=FROM_THE_FOLDER,
)
PAUSE_SOURCES = boolean(
    "pipeline.sources.pause-until-first-checkpoint",
    False,
    effect=recorded("sources emit from the start"),
)

RESTORE_PATH = text("execution.state-recovery.path", None, former=("execution.savepoint.path",))
IGNORE_UNCLAIMED = boolean(
    "execution.state-recovery.ignore-unclaimed-state",
    False,
    former=("execution.savepoint.ignore-unclaimed-state",),
)
CLAIM_MODE = choice(
    "execution.state-recovery.claim-mode",
    ("NO_CLAIM", "CLAIM", "LEGACY"),
    "NO_CLAIM",
    former=("execution.savepoint-restore-mode",),
    effect=recorded(
        "the checkpoint that a job starts from stays as it is; remove it when there are newer ones",
        harmless=("LEGACY",),
    ),
)
FROM_LOCAL = boolean(
    "execution.state-recovery.from-local",
    False,
    former=("state.backend.local-recovery",),
    effect=FROM_THE_FOLDER,
)
APPROXIMATE_LOCAL = boolean(
    "execution.state-recovery.approximate-local-recovery",
    False,
    former=("execution.checkpointing.approximate-local-recovery",),
    effect=FROM_THE_FOLDER,
)
WITHOUT_CHANNEL_STATE = long(
    "execution.state-recovery.without-channel-state.checkpoint-id",
    -1,
    former=("execution.checkpointing.recover-without-channel-state.checkpoint-id",),
    effect=ALIGNED,
)
