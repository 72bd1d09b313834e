"""Which state backend a configuration describes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark.common._java_handles import own_handle
from pyflink_on_spark.common.configuration import Configuration
from pyflink_on_spark.datastream import _checkpoint_options as options
from pyflink_on_spark.datastream.state_backend.backends import (
    HASHMAP,
    ROCKSDB,
    EmbeddedRocksDBStateBackend,
    HashMapStateBackend,
    StateBackend,
)
from pyflink_on_spark.datastream.state_backend.legacy import (
    FILES,
    MEMORY,
    OLD_ROCKSDB,
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
    name = options.read_first(configuration, options.BACKEND, options.BACKEND_OLD)
    if name is None:
        return None
    kind = name if name == OLD_ROCKSDB else name.lower()
    if kind not in _VIEWS:
        raise_unsupported(
            f"the state backend {name!r}",
            kind=Gap.NEVER,
            reason="a Java class has no meaning outside Flink's JVM",
            instead=f"Set {options.BACKEND.key} to {HASHMAP!r} or {ROCKSDB!r}.",
        )
    return _VIEWS[kind](configuration)


def state_backend_kind(configuration: Configuration) -> Literal["hashmap", "rocksdb"]:
    """Return how state is to be kept: in memory, or in a database that may be larger.

    Raises:
        UnsupportedFlinkFeature: the configuration names a Java class.
    """
    backend = read_state_backend(configuration)
    on_disk = isinstance(backend, EmbeddedRocksDBStateBackend | RocksDBStateBackend)
    return "rocksdb" if on_disk else "hashmap"
