"""State backends: the storage of keyed state while a job runs."""

from __future__ import annotations

import re
from abc import ABCMeta
from collections.abc import Callable
from enum import Enum
from typing import Any
from urllib.parse import urlsplit

from pyflink_on_spark._compat.arguments import own_handle
from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._compat.unsupported import refuse_java
from pyflink_on_spark._job.checkpoints.checkpoint_settings import (
    FILES,
    HASHMAP,
    MEMORY,
    OLD_ROCKSDB,
    ROCKSDB,
    UNSET,
    backend_kind,
    checkpoint_directory,
)
from pyflink_on_spark._options import checkpointing, own
from pyflink_on_spark._options.option import Option
from pyflink_on_spark._options.registry import note_option
from pyflink_on_spark.common.configuration import Configuration, values_of
from pyflink_on_spark.datastream.checkpoint_storage import (
    FileSystemCheckpointStorage,
    JobManagerCheckpointStorage,
    write_checkpoint_storage,
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


class PredefinedOptions(Enum):
    """Flink's sets of RocksDB options for kinds of disks.

    On Spark: recorded, without effect.
    """

    DEFAULT = 0
    SPINNING_DISK_OPTIMIZED = 1
    SPINNING_DISK_OPTIMIZED_HIGH_MEM = 2
    FLASH_SSD_OPTIMIZED = 3


class StateBackend(metaclass=ABCMeta):  # noqa: B024 - as in PyFlink
    """The root of the state backends: a view of the options ``state.backend.*``.

    Args:
        j_state_backend: the configuration that holds the options.
    """

    def __init__(self, j_state_backend):
        call = f"{type(self).__name__}(j_state_backend)"
        self._j_state_backend: Configuration = own_handle(j_state_backend, Configuration, call)


class HashMapStateBackend(StateBackend):
    """Keeps state as Python objects in the memory of the workers.

    Args:
        j_hashmap_state_backend: the configuration that holds the options.
    """

    def __init__(self, j_hashmap_state_backend=None):
        super().__init__(of_kind(HASHMAP, j_hashmap_state_backend))

    def __str__(self) -> str:
        return "HashMapStateBackend"


class RocksDBOptions(StateBackend):
    """The settings that all RocksDB backends share."""

    def set_db_storage_paths(self, *paths: str):
        """Set the local folders of the database; none means those for temporary files.

        Args:
            paths: absolute paths, or URIs with the scheme ``file``.

        Raises:
            ValueError: a path is relative, or not local.

        """
        if not paths:
            checkpointing.ROCKSDB_DIRECTORIES.remove(values_of(self._j_state_backend))
            return
        folders = [_local_folder(path) for path in paths]
        checkpointing.ROCKSDB_DIRECTORIES.write(values_of(self._j_state_backend), ",".join(folders))

    def get_db_storage_paths(self) -> list[str]:
        """Return the local folders of the database; an empty list when none were set."""
        folders = checkpointing.ROCKSDB_DIRECTORIES.read(values_of(self._j_state_backend))
        return folders.split(",") if folders else []

    def is_incremental_checkpoints_enabled(self) -> bool:
        """True if a checkpoint contains only the changes since the previous one."""
        return checkpointing.INCREMENTAL.read(values_of(self._j_state_backend))

    def set_predefined_options(self, options: PredefinedOptions):
        """Choose a set of RocksDB options.

        On Spark: recorded, without effect.
        """
        own_handle(options, PredefinedOptions, "set_predefined_options(options)")
        self._write(checkpointing.ROCKSDB_PREDEFINED, options.name)

    def get_predefined_options(self) -> PredefinedOptions:
        """Return the chosen set of RocksDB options."""
        return PredefinedOptions[
            checkpointing.ROCKSDB_PREDEFINED.read(values_of(self._j_state_backend))
        ]

    def set_options(self, options_factory_class_name: str):
        """Name a Java class that sets RocksDB options.

        On Spark: recorded, without effect: there is no Java class to ask.
        """
        own_handle(options_factory_class_name, str, "set_options(options_factory_class_name)")
        self._write(checkpointing.ROCKSDB_FACTORY, options_factory_class_name)

    def get_options(self) -> str | None:
        """Return the name of the Java class that was set."""
        return checkpointing.ROCKSDB_FACTORY.read(values_of(self._j_state_backend))

    def _set_threads(self, number: int) -> None:
        own_handle(number, int, "the number of threads of a RocksDB backend")
        if number <= 0:
            raise ValueError(
                "The number of threads used to transfer files in EmbeddedRocksDBStateBackend "
                "should be greater than zero."
            )
        self._write(checkpointing.ROCKSDB_THREADS, number)

    def _get_threads(self) -> int:
        return checkpointing.ROCKSDB_THREADS.read(values_of(self._j_state_backend))

    def _write(self, option: Option[Any], value: object) -> None:
        option.write(values_of(self._j_state_backend), value)
        note_option(values_of(self._j_state_backend), option)

    def _settings_text(self) -> str:
        configuration = self._j_state_backend
        folders = self.get_db_storage_paths()
        incremental = (
            str(self.is_incremental_checkpoints_enabled()).upper()
            if checkpointing.INCREMENTAL.is_set(values_of(configuration))
            else "UNDEFINED"
        )
        threads = (
            self._get_threads()
            if checkpointing.ROCKSDB_THREADS.is_set(values_of(configuration))
            else -1
        )
        return (
            f", localRocksDbDirectories={'[' + ', '.join(folders) + ']' if folders else 'null'}, "
            f"enableIncrementalCheckpointing={incremental}, "
            f"numberOfTransferThreads={threads}, writeBatchSize=-1"
        )


class EmbeddedRocksDBStateBackend(RocksDBOptions):
    """Keeps state in a database on local disks, so that it may be larger than memory.

    Timers are in memory, as with Flink's heap timers. How much memory the recent entries of a slot
    may take says ``state.backend.rocksdb.memory.fixed-per-slot`` (128 MB if nothing does).

    Args:
        enable_incremental_checkpointing: whether a checkpoint contains only what has changed;
            None leaves it to the configuration.
        j_embedded_rocks_db_state_backend: the configuration that holds the options.

    Raises:
        TypeError: ``enable_incremental_checkpointing`` is not None, True or False.

    On Spark: the database is SQLite's.
    """

    def __init__(
        self, enable_incremental_checkpointing=None, j_embedded_rocks_db_state_backend=None
    ):
        super().__init__(of_kind(ROCKSDB, j_embedded_rocks_db_state_backend))
        write_incremental(self._j_state_backend, enable_incremental_checkpointing)

    def get_number_of_transfer_threads(self) -> int:
        """Return how many threads move files of state."""
        return self._get_threads()

    def set_number_of_transfer_threads(self, number_of_transfering_threads: int):
        """Set how many threads move files of state.

        Raises:
            ValueError: it is not more than 0.

        On Spark: recorded, without effect.
        """
        self._set_threads(number_of_transfering_threads)

    def __str__(self) -> str:
        return f"EmbeddedRocksDBStateBackend{{{self._settings_text()}}}"


class CustomStateBackend(StateBackend):
    """A state backend that a user wrote in Java.

    Raises:
        UnsupportedFlinkFeature: always.
    """

    def __init__(self, j_custom_state_backend):
        refuse_java(
            "CustomStateBackend(...)",
            instead="Use HashMapStateBackend or EmbeddedRocksDBStateBackend.",
        )


def of_kind(kind: str, configuration: Any) -> Configuration:
    """Return a configuration that was given, or else a new one for a kind of backend."""
    if configuration is not None:
        return configuration
    made = Configuration()
    checkpointing.BACKEND.write(values_of(made), kind)
    return made


def write_incremental(configuration: Configuration, enabled: object) -> None:
    """Set whether checkpoints are incremental, unless it is None.

    Raises:
        TypeError: the value is not None, True or False.
    """
    if enabled not in {None, True, False}:
        raise TypeError(
            f"Unsupported input for 'enable_incremental_checkpointing': {enabled}, the value of "
            "the parameter should be None or True or False."
        )
    if enabled is not None:
        checkpointing.INCREMENTAL.write(values_of(configuration), bool(enabled))


def _local_folder(path: Any) -> str:
    if path is None:
        raise ValueError("null path")
    parts = urlsplit(own_handle(path, str, "set_db_storage_paths(*paths)"))
    if parts.scheme and parts.scheme != "file":
        raise ValueError(f"Path {path} has a non-local scheme")
    folder = parts.path if parts.scheme else path
    if not folder.startswith("/"):
        raise ValueError("Relative paths are not supported")
    folder = re.sub("/+", "/", folder)
    return folder.rstrip("/") or folder


class MemoryStateBackend(StateBackend):
    """Keeps state in the workers' memory, and checkpoints in that of Flink's JobManager.

    Args:
        checkpoint_path: a URI with a scheme for what is kept longer, or None.
        savepoint_path: a URI with a scheme for savepoints, or None.
        max_state_size: the largest state in bytes.
        using_asynchronous_snapshots: whether elements are processed during a checkpoint.
        j_memory_state_backend: the configuration that holds the options.

    On Spark: as HashMapStateBackend with JobManagerCheckpointStorage.
    """

    DEFAULT_MAX_STATE_SIZE = 5 * 1024 * 1024

    def __init__(
        self,
        checkpoint_path=None,
        savepoint_path=None,
        max_state_size=None,
        using_asynchronous_snapshots=None,
        j_memory_state_backend=None,
    ):
        super().__init__(of_kind(MEMORY, j_memory_state_backend))
        if j_memory_state_backend is not None:
            return
        write_checkpoint_storage(
            self._j_state_backend, JobManagerCheckpointStorage(checkpoint_path, max_state_size)
        )
        _write_savepoints(self._j_state_backend, savepoint_path)
        _write_asynchronous(self._j_state_backend, using_asynchronous_snapshots)

    def get_max_state_size(self) -> int:
        """Return the largest state in bytes."""
        return own.MAX_STATE_SIZE.read(values_of(self._j_state_backend))

    def is_using_asynchronous_snapshots(self) -> bool:
        """True if elements are processed during a checkpoint."""
        return checkpointing.ASYNCHRONOUS.read(values_of(self._j_state_backend))

    def __str__(self) -> str:
        configuration = self._j_state_backend
        values = values_of(configuration)
        return (
            "MemoryStateBackend (data in heap memory / checkpoints to JobManager) "
            f"(checkpoints: '{checkpointing.DIRECTORY.read(values) or 'null'}', "
            f"savepoints: '{checkpointing.SAVEPOINT_DIRECTORY.read(values) or 'null'}', "
            f"asynchronous: {_ternary(configuration, checkpointing.ASYNCHRONOUS)}, "
            f"maxStateSize: {self.get_max_state_size()})"
        )


class FsStateBackend(StateBackend):
    """Keeps state in the workers' memory, and checkpoints as files in a folder.

    Args:
        checkpoint_directory_uri: a URI with a scheme.
        default_savepoint_directory_uri: a URI with a scheme for savepoints, or None.
        file_state_size_threshold: state of fewer bytes gets no file of its own.
        write_buffer_size: the buffer of a file being written, in bytes.
        using_asynchronous_snapshots: whether elements are processed during a checkpoint.
        j_fs_state_backend: the configuration that holds the options.

    Raises:
        ValueError: there is no folder, it has no scheme, or a size is out of bounds.

    On Spark: as HashMapStateBackend with FileSystemCheckpointStorage.
    """

    def __init__(
        self,
        checkpoint_directory_uri=None,
        default_savepoint_directory_uri=None,
        file_state_size_threshold=None,
        write_buffer_size=None,
        using_asynchronous_snapshots=None,
        j_fs_state_backend=None,
    ):
        super().__init__(of_kind(FILES, j_fs_state_backend))
        if j_fs_state_backend is not None:
            return
        if checkpoint_directory_uri is None:
            raise ValueError("The parameter 'checkpoint_directory_uri' is required!")
        storage = FileSystemCheckpointStorage(
            checkpoint_directory_uri,
            file_state_size_threshold,
            UNSET if write_buffer_size is None else write_buffer_size,
        )
        write_checkpoint_storage(self._j_state_backend, storage)
        _write_savepoints(self._j_state_backend, default_savepoint_directory_uri)
        _write_asynchronous(self._j_state_backend, using_asynchronous_snapshots)

    def get_checkpoint_path(self) -> str:
        """Return the folder of the checkpoints as a URI."""
        return checkpointing.DIRECTORY.read(values_of(self._j_state_backend)) or ""

    def get_min_file_size_threshold(self) -> int:
        """Return how many bytes a state needs to get a file of its own."""
        return checkpointing.INLINE_THRESHOLD.read(values_of(self._j_state_backend))

    def get_write_buffer_size(self) -> int:
        """Return the size of the buffer of a file being written, in bytes."""
        return checkpointing.WRITE_BUFFER.read(values_of(self._j_state_backend))

    def is_using_asynchronous_snapshots(self) -> bool:
        """True if elements are processed during a checkpoint."""
        return checkpointing.ASYNCHRONOUS.read(values_of(self._j_state_backend))


class RocksDBStateBackend(RocksDBOptions):
    """Keeps state in a database on local disks, and checkpoints as files in a folder.

    Args:
        checkpoint_data_uri: a URI with a scheme.
        enable_incremental_checkpointing: whether a checkpoint contains only what has changed;
            None leaves it to the configuration.
        checkpoint_stream_backend: a backend that says where checkpoints are stored, in place
            of ``checkpoint_data_uri``.
        j_rocks_db_state_backend: the configuration that holds the options.

    Raises:
        ValueError: nothing says where checkpoints are stored.

    On Spark: as EmbeddedRocksDBStateBackend with FileSystemCheckpointStorage.
    """

    def __init__(
        self,
        checkpoint_data_uri=None,
        enable_incremental_checkpointing=None,
        checkpoint_stream_backend=None,
        j_rocks_db_state_backend=None,
    ):
        super().__init__(of_kind(OLD_ROCKSDB, j_rocks_db_state_backend))
        self._checkpoint_backend = checkpoint_stream_backend
        if j_rocks_db_state_backend is not None:
            return
        if checkpoint_stream_backend is None:
            if checkpoint_data_uri is None:
                raise ValueError("The parameter 'checkpoint_data_uri' is required!")
            checkpoint_stream_backend = FsStateBackend(checkpoint_data_uri)
        self._checkpoint_backend = checkpoint_stream_backend
        self._j_state_backend.add_all(checkpoint_stream_backend._j_state_backend)
        checkpointing.BACKEND.write(values_of(self._j_state_backend), OLD_ROCKSDB)
        write_incremental(self._j_state_backend, enable_incremental_checkpointing)

    def get_checkpoint_backend(self):
        """Return the backend that says where checkpoints are stored."""
        return self._checkpoint_backend or FsStateBackend(j_fs_state_backend=self._j_state_backend)

    def get_number_of_transfering_threads(self) -> int:
        """Return how many threads move files of state."""
        return self._get_threads()

    def set_number_of_transfering_threads(self, number_of_transfering_threads: int):
        """Set how many threads move files of state.

        Raises:
            ValueError: it is not more than 0.

        On Spark: recorded, without effect.
        """
        self._set_threads(number_of_transfering_threads)

    def __str__(self) -> str:
        backend = self.get_checkpoint_backend()
        return f"RocksDBStateBackend{{checkpointStreamBackend={backend}{self._settings_text()}}}"


def _write_savepoints(configuration: Configuration, uri: Any) -> None:
    if uri is not None:
        checkpointing.SAVEPOINT_DIRECTORY.write(values_of(configuration), checkpoint_directory(uri))


def _write_asynchronous(configuration: Configuration, enabled: object) -> None:
    if enabled is not None:
        checkpointing.ASYNCHRONOUS.write(values_of(configuration), bool(enabled))


def _ternary(configuration: Configuration, option: Option[bool]) -> str:
    return (
        str(option.read(values_of(configuration))).upper()
        if option.is_set(values_of(configuration))
        else "UNDEFINED"
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


__getattr__ = missing_name(__name__)
