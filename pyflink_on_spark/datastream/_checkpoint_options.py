"""The options behind checkpoints, their storage and the state backends."""

from __future__ import annotations

from enum import Enum
from typing import Any, TypeVar

from pyflink_on_spark.common._option import (
    Option,
    boolean_option,
    duration_option,
    int_option,
    string_option,
)
from pyflink_on_spark.common._option_text import option_text
from pyflink_on_spark.common.configuration import Configuration
from pyflink_on_spark.datastream._memory_text import memory_text, parse_memory_bytes
from pyflink_on_spark.datastream.checkpointing_mode import CheckpointingMode
from pyflink_on_spark.datastream.externalized_checkpoint_retention import (
    ExternalizedCheckpointRetention,
)

T = TypeVar("T")

E = TypeVar("E", bound=Enum)


def enum_option(key: str, default: E) -> Option[E]:
    """Describe an option that is one of an enum's names, in any case."""
    members = type(default).__members__

    def parse(value: Any) -> E:
        name = option_text(value).upper()
        if name not in members:
            raise ValueError(f"it is none of {', '.join(members)}")
        return members[name]

    return Option(key, parse, default, lambda member: member.name)


def memory_option(key: str, default: int) -> Option[int]:
    """Describe an option that is an amount of memory; its value is in bytes."""
    return Option(key, parse_memory_bytes, default, memory_text)


def read_first(configuration: Configuration, *options: Option[T]) -> T:
    """Return the value of the first option that is set, or the first one's default."""
    for option in options:
        if configuration.contains_key(option.key):
            return configuration._read(option)
    return options[0].default


RUNTIME_MODE = string_option("execution.runtime-mode", "STREAMING")

MODE = enum_option("execution.checkpointing.mode", CheckpointingMode.EXACTLY_ONCE)
TIMEOUT = duration_option("execution.checkpointing.timeout", 600_000)
MIN_PAUSE = duration_option("execution.checkpointing.min-pause", 0)
MAX_CONCURRENT = int_option("execution.checkpointing.max-concurrent-checkpoints", 1)
TOLERABLE_FAILURES = int_option("execution.checkpointing.tolerable-failed-checkpoints", 0)
RETENTION = enum_option(
    "execution.checkpointing.externalized-checkpoint-retention",
    ExternalizedCheckpointRetention.NO_EXTERNALIZED_CHECKPOINTS,
)
UNALIGNED = boolean_option("execution.checkpointing.unaligned.enabled", False)
UNALIGNED_OLD = boolean_option("execution.checkpointing.unaligned", False)
UNALIGNED_FORCED = boolean_option("execution.checkpointing.unaligned.forced", False)
ALIGNED_TIMEOUT = duration_option("execution.checkpointing.aligned-checkpoint-timeout", 0)
ALIGNED_TIMEOUT_OLD = duration_option("execution.checkpointing.alignment-timeout", 0)
PREFER_CHECKPOINT = boolean_option("execution.checkpointing.prefer-checkpoint-for-recovery", False)

STORAGE = string_option("execution.checkpointing.storage", None)
STORAGE_OLD = string_option("state.checkpoint-storage", None)
DIRECTORY = string_option("execution.checkpointing.dir", None)
DIRECTORY_OLD = string_option("state.checkpoints.dir", None)
SAVEPOINT_DIRECTORY = string_option("execution.checkpointing.savepoint-dir", None)
SAVEPOINT_DIRECTORY_OLD = string_option("state.savepoints.dir", None)
INLINE_THRESHOLD = memory_option("execution.checkpointing.data-inline-threshold", 20 * 1024)
WRITE_BUFFER = int_option("execution.checkpointing.write-buffer-size", 4096)
MAX_STATE_SIZE = int_option("pyflink-on-spark.checkpoint-storage.max-state-size", 5 * 1024 * 1024)

BACKEND = string_option("state.backend.type", None)
BACKEND_OLD = string_option("state.backend", None)
INCREMENTAL = boolean_option("execution.checkpointing.incremental", False)
INCREMENTAL_OLD = boolean_option("state.backend.incremental", False)
ASYNCHRONOUS = boolean_option("state.backend.async", True)
ROCKSDB_DIRECTORIES = string_option("state.backend.rocksdb.localdir", None)
ROCKSDB_THREADS = int_option("state.backend.rocksdb.checkpoint.transfer.thread.num", 4)
ROCKSDB_PREDEFINED = string_option("state.backend.rocksdb.predefined-options", "DEFAULT")
ROCKSDB_FACTORY = string_option("state.backend.rocksdb.options-factory", None)
