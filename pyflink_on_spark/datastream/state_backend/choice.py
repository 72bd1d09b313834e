"""The state backend that a configuration describes."""

from __future__ import annotations

from collections.abc import Callable

from pyflink_on_spark._job.checkpoints.checkpoint_settings import (
    FILES,
    HASHMAP,
    MEMORY,
    OLD_ROCKSDB,
    ROCKSDB,
    backend_kind,
)
from pyflink_on_spark.common._java_handles import own_handle
from pyflink_on_spark.common.configuration import Configuration, values_of
from pyflink_on_spark.datastream.state_backend.backends import (
    EmbeddedRocksDBStateBackend,
    HashMapStateBackend,
    StateBackend,
)
from pyflink_on_spark.datastream.state_backend.legacy import (
    FsStateBackend,
    MemoryStateBackend,
    RocksDBStateBackend,
)

_VIEWS: dict[str, Callable[[Configuration], StateBackend]] = {
    HASHMAP: lambda it: HashMapStateBackend(j_hashmap_state_backend=it),
    ROCKSDB: lambda it: EmbeddedRocksDBStateBackend(j_embedded_rocks_db_state_backend=it),
    MEMORY: lambda it: MemoryStateBackend(j_memory_state_backend=it),
    FILES: lambda it: FsStateBackend(j_fs_state_backend=it),
    OLD_ROCKSDB: lambda it: RocksDBStateBackend(j_rocks_db_state_backend=it),
}


def write_state_backend(configuration: Configuration, backend: StateBackend) -> None:
    """Put what a backend says into a configuration, and have the backend show that one.

    Raises:
        TypeError: it is not a state backend.
    """
    own_handle(backend, StateBackend, "set_state_backend(state_backend)")
    configuration.add_all(backend._j_state_backend)
    backend._j_state_backend = configuration


def read_state_backend(configuration: Configuration) -> StateBackend | None:
    """Return the backend that a configuration describes, or None if it describes none.

    Raises:
        UnsupportedFlinkFeature: it names a Java class.
    """
    kind = backend_kind(values_of(configuration))
    return None if kind is None else _VIEWS[kind](configuration)
