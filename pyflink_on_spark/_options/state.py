"""The options of state backends."""

from __future__ import annotations

from pyflink_on_spark._options.checkpointing import NEEDS_FOLDER
from pyflink_on_spark._options.kinds import boolean, choice, duration, integer, memory, text
from pyflink_on_spark._options.option import recorded, works

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
ROCKSDB_FACTORY = text("state.backend.rocksdb.options-factory", None, effect=OTHER_DATABASE)
ROCKSDB_TIMERS = choice(
    "state.backend.rocksdb.timer-service.factory",
    ("ROCKSDB", "HEAP"),
    "ROCKSDB",
    effect=recorded("timers are in memory, as with HEAP", harmless=("HEAP",)),
)
