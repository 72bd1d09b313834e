"""Which state backend a configuration names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyflink_on_spark._compat.unsupported import refuse_java
from pyflink_on_spark._options import state

HASHMAP = "hashmap"
ROCKSDB = "rocksdb"
MEMORY = "jobmanager"
FILES = "filesystem"
OLD_ROCKSDB = "org.apache.flink.contrib.streaming.state.RocksDBStateBackendFactory"
_KINDS = (HASHMAP, ROCKSDB, MEMORY, FILES, OLD_ROCKSDB)
_ON_DISK = (ROCKSDB, OLD_ROCKSDB)


def backend_kind(values: Mapping[str, Any]) -> str | None:
    """Return the kind of state backend that a configuration names; None if it names none.

    Raises:
        UnsupportedFlinkFeature: the configuration names a Java class.
    """
    name = state.BACKEND.read(values)
    if name is None:
        return None
    kind = name if name == OLD_ROCKSDB else name.lower()
    if kind not in _KINDS:
        refuse_java(
            f"the state backend {name!r}",
            instead=f"Set {state.BACKEND.key} to {HASHMAP!r} or {ROCKSDB!r}.",
        )
    return kind


def keeps_state_on_disk(values: Mapping[str, Any]) -> bool:
    """Tell whether keyed state is kept in a database on disk, rather than in memory.

    Raises:
        UnsupportedFlinkFeature: the configuration names a Java class.
    """
    return backend_kind(values) in _ON_DISK
