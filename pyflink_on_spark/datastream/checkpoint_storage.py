"""Where checkpoints are stored."""

from __future__ import annotations

import re
from abc import ABCMeta
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark.common._java_handles import own_handle, refuse_java_object
from pyflink_on_spark.common.configuration import Configuration
from pyflink_on_spark.datastream import _checkpoint_options as options

__all__ = [
    "CheckpointStorage",
    "JobManagerCheckpointStorage",
    "FileSystemCheckpointStorage",
    "CustomCheckpointStorage",
]

_JOB_MANAGER = "jobmanager"
_FILE_SYSTEM = "filesystem"
_DEFAULT = -1
_MAX_THRESHOLD = 1024 * 1024


@dataclass(frozen=True)
class StorageSpec:
    """What a checkpoint storage says; sizes are in bytes, -1 leaves them to the configuration."""

    kind: str
    checkpoint_path: str | None = None
    savepoint_path: str | None = None
    max_state_size: int = _DEFAULT
    inline_threshold: int = _DEFAULT
    write_buffer: int = _DEFAULT


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
            if size <= 0:
                raise ValueError("maxStateSize must be > 0")
            path = None if checkpoint_path is None else checkpoint_directory(checkpoint_path)
            spec = StorageSpec(_JOB_MANAGER, checkpoint_path=path, max_state_size=size)
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

    MAX_FILE_STATE_THRESHOLD = _MAX_THRESHOLD

    def __init__(
        self,
        checkpoint_path=None,
        file_state_size_threshold=None,
        write_buffer_size=-1,
        j_filesystem_checkpoint_storage=None,
    ):
        spec = j_filesystem_checkpoint_storage
        if spec is None:
            if checkpoint_path is None:
                raise ValueError("checkpoint_path must not be None")
            threshold = file_state_size_threshold
            spec = file_system_spec(
                checkpoint_path, _DEFAULT if threshold is None else threshold, write_buffer_size
            )
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
        return options.INLINE_THRESHOLD.default if threshold == _DEFAULT else threshold

    def get_write_buffer_size(self) -> int:
        """Return the size of the buffer of a file being written, in bytes."""
        size = self._j_checkpoint_storage.write_buffer
        return options.WRITE_BUFFER.default if size == _DEFAULT else size

    def __str__(self) -> str:
        return f"FileSystemCheckpointStorage({self.get_checkpoint_path()})"


class CustomCheckpointStorage(CheckpointStorage):
    """A checkpoint storage that a user wrote in Java.

    Raises:
        UnsupportedFlinkFeature: always.
    """

    def __init__(self, j_custom_checkpoint_storage):
        raise_unsupported(
            "CustomCheckpointStorage(...)",
            kind=Gap.NEVER,
            reason="a Java class has no meaning outside Flink's JVM",
            instead="Use FileSystemCheckpointStorage.",
        )


def file_system_spec(path: Any, inline_threshold: int, write_buffer: int) -> StorageSpec:
    """Describe the storage in a folder.

    Raises:
        ValueError: the path has no scheme, or a size is out of bounds.
    """
    if not _DEFAULT <= inline_threshold <= _MAX_THRESHOLD:
        raise ValueError(
            f"The threshold for file state size must be in [-1, {_MAX_THRESHOLD}], where '-1' "
            "means to use the value from the deployment's configuration."
        )
    if write_buffer < _DEFAULT:
        raise ValueError(
            "The write buffer size must be not less than '-1', where '-1' means to use the value "
            "from the deployment's configuration."
        )
    return StorageSpec(
        _FILE_SYSTEM,
        checkpoint_path=checkpoint_directory(path),
        inline_threshold=inline_threshold,
        write_buffer=write_buffer,
    )


def checkpoint_directory(uri: str) -> str:
    """Return the URI of a folder as Flink writes it: ``file:/data``, no slash at the end.

    Raises:
        ValueError: it has no scheme, or is the root directory.
    """
    if not uri:
        raise ValueError("Can not create a Path from an empty string")
    parts = urlsplit(uri)
    if not parts.scheme:
        raise ValueError(
            "The scheme (hdfs://, file://, etc) is null. Please specify the file system scheme "
            "explicitly in the URI."
        )
    path = re.sub("/+", "/", parts.path).rstrip("/")
    if not path:
        raise ValueError("Cannot use the root directory for checkpoints.")
    authority = f"//{parts.netloc}" if parts.netloc else ""
    return f"{parts.scheme}:{authority}{path}"


def write_checkpoint_storage(configuration: Configuration, storage: CheckpointStorage) -> None:
    """Put what a storage says into a configuration, in place of what was there."""
    spec: StorageSpec = storage._j_checkpoint_storage
    for old in (options.STORAGE_OLD, options.DIRECTORY, options.DIRECTORY_OLD):
        configuration.remove_config(old.key)
    configuration._write(options.STORAGE, spec.kind)
    for option, value in (
        (options.DIRECTORY, spec.checkpoint_path),
        (options.SAVEPOINT_DIRECTORY, spec.savepoint_path),
    ):
        if value is not None:
            configuration._write(option, value)
    for size_option, size in (
        (options.MAX_STATE_SIZE, spec.max_state_size),
        (options.INLINE_THRESHOLD, spec.inline_threshold),
        (options.WRITE_BUFFER, spec.write_buffer),
    ):
        if size != _DEFAULT:
            configuration._write(size_option, size)


def read_checkpoint_storage(configuration: Configuration) -> CheckpointStorage | None:
    """Return the storage that a configuration describes, or None if it describes none.

    Raises:
        UnsupportedFlinkFeature: it names a Java class.
    """
    kind = options.read_first(configuration, options.STORAGE, options.STORAGE_OLD)
    path = options.read_first(configuration, options.DIRECTORY, options.DIRECTORY_OLD)
    if kind is None and path is None:
        return None
    if (kind or _FILE_SYSTEM).lower() == _JOB_MANAGER:
        size = configuration._read(options.MAX_STATE_SIZE)
        return JobManagerCheckpointStorage(path, size)
    if kind is not None and kind.lower() != _FILE_SYSTEM:
        return CustomCheckpointStorage(kind)
    return FileSystemCheckpointStorage(
        path,
        configuration._read(options.INLINE_THRESHOLD),
        configuration._read(options.WRITE_BUFFER),
    )


__getattr__ = missing_name(__name__)
