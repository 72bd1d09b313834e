"""The state backends of Flink 1.x, which say where checkpoints are stored, too."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._job.checkpoints.checkpoint_settings import (
    FILES,
    MEMORY,
    OLD_ROCKSDB,
    UNSET,
    checkpoint_directory,
)
from pyflink_on_spark._options import checkpointing, own
from pyflink_on_spark._options.option import Option
from pyflink_on_spark.common.configuration import Configuration, values_of
from pyflink_on_spark.datastream.checkpoint_storage import (
    FileSystemCheckpointStorage,
    JobManagerCheckpointStorage,
    write_checkpoint_storage,
)
from pyflink_on_spark.datastream.state_backend.backends import (
    RocksDBOptions,
    StateBackend,
    of_kind,
    write_incremental,
)


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


def _write_asynchronous(configuration: Configuration, enabled: Any) -> None:
    if enabled is not None:
        checkpointing.ASYNCHRONOUS.write(values_of(configuration), bool(enabled))


def _ternary(configuration: Configuration, option: Option[bool]) -> str:
    return (
        str(option.read(values_of(configuration))).upper()
        if option.is_set(values_of(configuration))
        else "UNDEFINED"
    )
