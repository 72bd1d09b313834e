"""Flink's options of checkpoints, state backends, restarts, and recovery."""

from __future__ import annotations

from pyflink_on_spark._options.option import (
    at_least,
    boolean,
    choice,
    double,
    duration,
    integer,
    long,
    memory,
    recorded,
    text,
    works,
)

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
_SLOT_MEMORY = "state.backend.rocksdb.memory.fixed-per-slot"
OTHER_DATABASE = recorded(
    f"state is in another database than RocksDB, whose memory is set with {_SLOT_MEMORY}"
)
_NO_LOG_OF_CHANGES = recorded("changes are written with each checkpoint, not between checkpoints")
BACKEND = text(
    "state.backend.type",
    None,
    former=("state.backend",),
    effect=works("`hashmap` (the default) or `rocksdb`, which keeps state in files of SQLite"),
)
ASYNCHRONOUS = boolean(
    "state.backend.async",
    True,
    effect=recorded("a subtask writes its state before it continues"),
)
LATENCY_TRACKING = boolean(
    "state.latency-track.keyed-state-enabled",
    False,
    former=("state.backend.latency-track.keyed-state-enabled",),
    effect=recorded("no latency of state is measured"),
)
CHANGELOG = boolean(
    "state.changelog.enabled",
    False,
    former=("state.backend.changelog.enabled",),
    effect=NEEDS_FOLDER,
)
MATERIALIZE = boolean(
    "state.changelog.periodic-materialize.enabled",
    True,
    former=("state.backend.changelog.periodic-materialize.enabled",),
)
MATERIALIZE_INTERVAL = duration(
    "state.changelog.periodic-materialize.interval",
    600_000,
    former=("state.backend.changelog.periodic-materialize.interval",),
)
CHANGELOG_STORAGE = text(
    "state.changelog.storage",
    "memory",
    former=("state.backend.changelog.storage",),
    effect=_NO_LOG_OF_CHANGES,
)
CHANGELOG_FAILURES = integer(
    "state.changelog.max-failures-allowed",
    3,
    former=("state.backend.changelog.max-failures-allowed",),
    effect=_NO_LOG_OF_CHANGES,
)
ROCKSDB_DIRECTORIES = text("state.backend.rocksdb.localdir", None)
ROCKSDB_SLOT_MEMORY = memory(
    _SLOT_MEMORY,
    128 * 1024**2,
    effect=works("how much memory the recently used entries of a slot may take"),
)
ROCKSDB_BLOCK_CACHE = memory(
    "state.backend.rocksdb.block.cache-size",
    None,
    effect=works("SQLite's page cache of a slot; its own default if not set"),
)
ROCKSDB_THREADS = integer(
    "state.backend.rocksdb.checkpoint.transfer.thread.num",
    4,
    effect=recorded("each slot writes one file at a time"),
)
ROCKSDB_FACTORY = text("state.backend.rocksdb.options-factory", None, effect=OTHER_DATABASE)
ROCKSDB_TIMERS = choice(
    "state.backend.rocksdb.timer-service.factory",
    ("ROCKSDB", "HEAP"),
    "ROCKSDB",
    effect=recorded("timers are in memory, as with HEAP", harmless=("HEAP",)),
)
FIXED_ATTEMPTS = integer("restart-strategy.fixed-delay.attempts", 1)
FIXED_DELAY = duration("restart-strategy.fixed-delay.delay", 1_000)
RATE_FAILURES = integer("restart-strategy.failure-rate.max-failures-per-interval", 1)
RATE_INTERVAL = duration("restart-strategy.failure-rate.failure-rate-interval", 60_000)
RATE_DELAY = duration("restart-strategy.failure-rate.delay", 1_000)
BACKOFF_INITIAL = duration("restart-strategy.exponential-delay.initial-backoff", 1_000)
BACKOFF_MAXIMUM = duration("restart-strategy.exponential-delay.max-backoff", 60_000)
BACKOFF_MULTIPLIER = double("restart-strategy.exponential-delay.backoff-multiplier", 1.5)
BACKOFF_RESET = duration("restart-strategy.exponential-delay.reset-backoff-threshold", 3_600_000)
BACKOFF_JITTER = double("restart-strategy.exponential-delay.jitter-factor", 0.1)
BACKOFF_ATTEMPTS = integer(
    "restart-strategy.exponential-delay.attempts-before-reset-backoff", 2**31 - 1
)


def _too_short(what: str) -> str:
    return f"{what} must be larger than or equal to {_SHORTEST_MS} ms"


INTERVAL = duration(
    "execution.checkpointing.interval",
    None,
    check=at_least(_SHORTEST_MS, _too_short("Checkpoint interval")),
)
TIMEOUT = duration(
    "execution.checkpointing.timeout",
    600_000,
    check=at_least(_SHORTEST_MS, _too_short("Checkpoint timeout")),
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


ROCKSDB_PREDEFINED = choice(
    "state.backend.rocksdb.predefined-options",
    (
        "DEFAULT",
        "SPINNING_DISK_OPTIMIZED",
        "SPINNING_DISK_OPTIMIZED_HIGH_MEM",
        "FLASH_SSD_OPTIMIZED",
    ),
    "DEFAULT",
    effect=OTHER_DATABASE,
)


STRATEGY = text(
    "restart-strategy.type",
    None,
    former=("restart-strategy",),
    effect=works(
        "`none`, `fixed-delay`, `failure-rate` or `exponential-delay`; the last one is the default "
        "of a job with checkpoints, `none` that of a job without"
    ),
)
