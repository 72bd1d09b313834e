"""The storage of checkpoints."""

from __future__ import annotations

from abc import ABCMeta

from pyflink_on_spark._compat.arguments import own_handle, refuse_java_object
from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._compat.unsupported import refuse_java
from pyflink_on_spark._job.checkpoints.checkpoint_settings import (
    JOB_MANAGER,
    MAX_THRESHOLD,
    UNSET,
    StorageSpec,
    file_system_spec,
    job_manager_spec,
    read_storage,
    write_storage,
)
from pyflink_on_spark._options import checkpointing
from pyflink_on_spark.common.configuration import Configuration, values_of

__all__ = [
    "CheckpointStorage",
    "JobManagerCheckpointStorage",
    "FileSystemCheckpointStorage",
    "CustomCheckpointStorage",
]


class CheckpointStorage(metaclass=ABCMeta):  # noqa: B024 - as in PyFlink
    """The root of the places for checkpoints.

    Args:
        j_checkpoint_storage: this package's description.
    """

    def __init__(self, j_checkpoint_storage):
        refuse_java_object(j_checkpoint_storage, f"{type(self).__name__}(<a Java object>)")
        self._j_checkpoint_storage = j_checkpoint_storage


class JobManagerCheckpointStorage(CheckpointStorage):
    """Keeps checkpoints in the memory of Flink's JobManager.

    Args:
        checkpoint_path: a URI with a scheme for what is kept longer, or None.
        max_state_size: the largest state in bytes.
        j_jobmanager_checkpoint_storage: this package's description.

    Raises:
        ValueError: the path has no scheme, or the size is not more than 0.

    On Spark: the driver's memory takes the place of the JobManager's. With a path checkpoints are
    files there, of any size; without one they end with the driver.
    """

    DEFAULT_MAX_STATE_SIZE = 5 * 1024 * 1024

    def __init__(
        self, checkpoint_path=None, max_state_size=None, j_jobmanager_checkpoint_storage=None
    ):
        spec = j_jobmanager_checkpoint_storage
        if spec is None:
            size = self.DEFAULT_MAX_STATE_SIZE if max_state_size is None else max_state_size
            spec = job_manager_spec(checkpoint_path, size)
        super().__init__(own_handle(spec, StorageSpec, "JobManagerCheckpointStorage(j_...)"))

    def get_checkpoint_path(self) -> str | None:
        """Return the path for what is kept longer."""
        return self._j_checkpoint_storage.checkpoint_path

    def get_max_state_size(self) -> int:
        """Return the largest state in bytes."""
        return self._j_checkpoint_storage.max_state_size

    def get_savepoint_path(self) -> str | None:
        """Return the path for savepoints."""
        return self._j_checkpoint_storage.savepoint_path

    def __str__(self) -> str:
        return (
            "JobManagerCheckpointStorage (checkpoints to JobManager) "
            f"( maxStateSize: {self.get_max_state_size()})"
        )


class FileSystemCheckpointStorage(CheckpointStorage):
    """Keeps checkpoints as files in a folder.

    Args:
        checkpoint_path: a URI with a scheme, such as ``file:///data/checkpoints``.
        file_state_size_threshold: state of fewer bytes gets no file of its own; at most 1 MiB.
        write_buffer_size: the buffer of a file being written, in bytes; -1 means 4096.
        j_filesystem_checkpoint_storage: this package's description.

    Raises:
        ValueError: there is no path, it has no scheme, or a size is out of bounds.

    On Spark: the two sizes are recorded, without effect.
    """

    MAX_FILE_STATE_THRESHOLD = MAX_THRESHOLD

    def __init__(
        self,
        checkpoint_path=None,
        file_state_size_threshold=None,
        write_buffer_size=-1,
        j_filesystem_checkpoint_storage=None,
    ):
        spec = j_filesystem_checkpoint_storage
        if spec is None:
            threshold = UNSET if file_state_size_threshold is None else file_state_size_threshold
            spec = file_system_spec(checkpoint_path, threshold, write_buffer_size)
        super().__init__(own_handle(spec, StorageSpec, "FileSystemCheckpointStorage(j_...)"))

    def get_checkpoint_path(self) -> str:
        """Return the folder as a URI."""
        return self._j_checkpoint_storage.checkpoint_path

    def get_savepoint_path(self) -> str | None:
        """Return the path for savepoints."""
        return self._j_checkpoint_storage.savepoint_path

    def get_min_file_size_threshold(self) -> int:
        """Return how many bytes a state needs to get a file of its own."""
        threshold = self._j_checkpoint_storage.inline_threshold
        return checkpointing.INLINE_THRESHOLD.default if threshold == UNSET else threshold

    def get_write_buffer_size(self) -> int:
        """Return the size of the buffer of a file being written, in bytes."""
        size = self._j_checkpoint_storage.write_buffer
        return checkpointing.WRITE_BUFFER.default if size == UNSET else size

    def __str__(self) -> str:
        return f"FileSystemCheckpointStorage({self.get_checkpoint_path()})"


class CustomCheckpointStorage(CheckpointStorage):
    """A checkpoint storage that a user wrote in Java.

    Raises:
        UnsupportedFlinkFeature: always.
    """

    def __init__(self, j_custom_checkpoint_storage):
        refuse_java(
            "CustomCheckpointStorage(...)",
            instead="Use FileSystemCheckpointStorage.",
        )


def write_checkpoint_storage(configuration: Configuration, storage: CheckpointStorage) -> None:
    """Set a storage in a configuration, in place of the one that it had."""
    write_storage(values_of(configuration), storage._j_checkpoint_storage)


def read_checkpoint_storage(configuration: Configuration) -> CheckpointStorage | None:
    """Return the storage that a configuration describes, or None if it describes none.

    Raises:
        UnsupportedFlinkFeature: it names a Java class.
    """
    spec = read_storage(values_of(configuration))
    if spec is None:
        return None
    if spec.kind == JOB_MANAGER:
        return JobManagerCheckpointStorage(j_jobmanager_checkpoint_storage=spec)
    return FileSystemCheckpointStorage(j_filesystem_checkpoint_storage=spec)


__getattr__ = missing_name(__name__)
