"""State backends: the storage of keyed state while a job runs."""

from __future__ import annotations

import re
from abc import ABCMeta
from enum import Enum
from typing import Any
from urllib.parse import urlsplit

from pyflink_on_spark._compat.unsupported import refuse_java
from pyflink_on_spark._job.checkpoints.checkpoint_settings import HASHMAP, ROCKSDB
from pyflink_on_spark._options import checkpointing
from pyflink_on_spark._options.option import Option
from pyflink_on_spark._options.registry import note_option
from pyflink_on_spark.common._java_handles import own_handle
from pyflink_on_spark.common.configuration import Configuration, values_of


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

    def _write(self, option: Option[Any], value: Any) -> None:
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


def write_incremental(configuration: Configuration, enabled: Any) -> None:
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
