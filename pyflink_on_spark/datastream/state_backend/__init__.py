"""State backends: the storage of keyed state while a job runs."""

from __future__ import annotations

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark.datastream.state_backend.backends import (
    CustomStateBackend,
    EmbeddedRocksDBStateBackend,
    HashMapStateBackend,
    PredefinedOptions,
    StateBackend,
)
from pyflink_on_spark.datastream.state_backend.choice import (
    read_state_backend,
    write_state_backend,
)
from pyflink_on_spark.datastream.state_backend.legacy import (
    FsStateBackend,
    MemoryStateBackend,
    RocksDBStateBackend,
)

__all__ = [
    "StateBackend",
    "HashMapStateBackend",
    "EmbeddedRocksDBStateBackend",
    "MemoryStateBackend",
    "FsStateBackend",
    "RocksDBStateBackend",
    "CustomStateBackend",
    "PredefinedOptions",
]

__getattr__ = missing_name(__name__)
