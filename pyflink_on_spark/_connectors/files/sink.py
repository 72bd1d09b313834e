"""The sink that writes elements to part files in buckets."""

from __future__ import annotations

import logging
import struct
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from pyflink_on_spark._connectors.files.config import FileSinkConfig
from pyflink_on_spark._connectors.files.part_file import (
    InProgressFile,
    Owner,
    PendingFile,
    files_of_runs,
    mark_of,
    remove_leftovers,
)
from pyflink_on_spark._connectors.files.writer import BucketWriter, BulkBucketWriter, FileSinkWriter
from pyflink_on_spark._connectors.formats.file_format import LineEncoder
from pyflink_on_spark._filesystem.location import absolute, locate
from pyflink_on_spark._runtime.coders import DataInput
from pyflink_on_spark._runtime.contract.connector import Sink, Versioned
from pyflink_on_spark._runtime.types.converters import java_text
from pyflink_on_spark.common._charset import find_charset
from pyflink_on_spark.common.typeinfo import PickledBytesTypeInfo, TypeInformation

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext

_log = logging.getLogger(__name__)

_BUCKET, _BUCKET_VERSION = 0x1E764B79, 3
_PART, _PART_VERSION = 0xB3A4073D - (1 << 32), 2
_LOCAL = 0x1E744B57
_LENGTH = 4


class PartFileSink(Sink):
    """Writes elements to part files, in a bulk format or as text with a line for each element.

    Where a file cannot be resumed, as in object stores, each checkpoint finishes the part files.

    Args:
        config: the settings of the sink.
        input_type: the type of the elements.
        configuration: the configuration of the job, which may say how to reach the file system.

    Raises:
        ValueError: there is no such character set, or the file system is read-only.
        ModuleNotFoundError: a package for the file system is missing.
    """

    flink_commits = True
    writer_class: ClassVar[type[FileSinkWriter]] = FileSinkWriter
    """The writer of a subtask."""

    def __init__(
        self,
        config: FileSinkConfig,
        input_type: TypeInformation | None = None,
        configuration: Mapping[str, str] | None = None,
    ) -> None:
        self._place = locate(config.base_path, configuration or {})
        self._files = self._place.files
        if not self._files.writable:
            raise ValueError(f"files cannot be written there, only read: {self._place.path}")
        self._config = replace(config, base_path=absolute(config.base_path))
        self._configuration = configuration
        self._charset = find_charset(config.charset_name)
        self._input_type = input_type
        self._id = uuid.uuid4().hex
        self._marked: set[str] = set()
        # Snapshots name part files only where these can be resumed.
        self.keeps_snapshots = self._files.resumable and config.bulk is None

    def with_input_type(self, type_info: TypeInformation | None) -> PartFileSink:
        bulk = self._config.bulk
        if bulk is not None:
            bulk.check_input(type_info)
        elif type_info is None or isinstance(type_info, PickledBytesTypeInfo):
            _log.warning(
                "A file sink writes the elements of a stream without a type as str() does; PyFlink "
                "would write names of Java arrays, as [B@1a2b3c4d, into %s. For the same text "
                "there declare a type: .map(str, output_type=Types.STRING())",
                self._config.base_path,
            )
        return type(self)(self._config, type_info, self._configuration)

    def with_configuration(self, configuration: Mapping[str, str]) -> PartFileSink:
        return type(self)(self._config, self._input_type, configuration)

    def snapshots_of_flink(self, written: Sequence[Versioned]) -> list[Any]:
        found = [part for version, data in written for part in _unfinished(version, data)]
        if found and not self.keeps_snapshots:
            raise ValueError(
                "part files that are not finished can be continued in local folders only, and "
                "those of bulk formats nowhere"
            )
        return found

    def writer(self, context: OperatorContext) -> FileSinkWriter:
        config = self._config
        if config.bulk is not None:
            config.bulk.check_input(self._input_type)
        if not self._files.resumable:
            config = replace(config, rolling=replace(config.rolling, on_checkpoint=True))
        to_text, encoder, bucket_writer = self._form()
        return self.writer_class(
            config, to_text, encoder, context, self._id, bucket_writer, self._place
        )

    def _form(self) -> tuple[Callable[[Any], object], Any, type[BucketWriter]]:
        """Return the conversion of elements, their encoder, and the writer class of a bucket."""
        bulk = self._config.bulk
        if bulk is not None:
            return bulk.converter(), bulk, BulkBucketWriter
        return java_text(self._input_type), LineEncoder(self._charset), BucketWriter

    def _unmark(self, committables: list[PendingFile]) -> None:
        for file in committables:
            for path in file.originals:
                self._files.remove(mark_of(path))
            if file.in_progress_path in self._marked:
                self._files.remove(mark_of(file.in_progress_path))
                self._marked.discard(file.in_progress_path)

    def hold_back(
        self, committables: list[PendingFile], checkpoint_id: int
    ) -> tuple[list[PendingFile], list[PendingFile]]:
        if self._config.compaction is None:
            return committables, []
        return self._config.compaction.hold_back(committables, checkpoint_id, self._files)

    def keep(self, committables: list[PendingFile | InProgressFile]) -> None:
        for path in {file.in_progress_path for file in committables} - self._marked:
            if self._files.exists(path) and not self._files.exists(mark_of(path)):
                self._files.create(mark_of(path)).close()
            self._marked.add(path)

    def commit(self, committables: list[PendingFile]) -> None:
        if self._config.compaction is not None:
            self._config.compaction.commit(committables, files=self._files)
        else:
            for file in committables:
                file.commit(self._files)
        self._announce(committables)
        self._unmark(committables)

    def commit_again(self, committables: list[PendingFile]) -> None:
        # A missing file was committed, and moved since then.
        if self._config.compaction is not None:
            self._config.compaction.commit(committables, again=True, files=self._files)
        else:
            for file in committables:
                if self._files.exists(file.in_progress_path):
                    file.commit(self._files)
                file.remove_originals(self._files)
        self._announce(committables)
        self._unmark(committables)

    def _announce(self, committables: list[PendingFile]) -> None:
        name = self._config.success_file
        if name is not None:
            for bucket in sorted({file.bucket for file in committables}):
                self._put_marker(bucket, name)

    def _put_marker(self, folder: str, name: str) -> None:
        """Put a new empty file into a folder, in place of an older one."""
        path = f"{folder}/{name}"
        self._files.remove(path)
        self._files.create(path).close()

    def remove_leftovers(self, attempts: int) -> None:
        runs = {Owner.of(self._id, attempt).run for attempt in range(attempts)}
        base = self._place.path
        if self._files.exists(base):
            remove_leftovers(files_of_runs(base, runs, self._files), self._files)

    def abort(self, committables: list[PendingFile]) -> None:
        for file in committables:
            file.discard(self._files)


def _unfinished(version: int, data: DataInput) -> list[InProgressFile]:
    """Read the part file of a bucket of Flink's ``FileSink``, if there is one.

    Raises:
        ValueError: it is of another version, or not in a local folder.
    """
    if version != _BUCKET_VERSION or data.integer() != _BUCKET:
        raise ValueError(f"buckets of version {version} are not known")
    data.integer()
    bucket = data.take(data.count("bytes"))[_LENGTH:].decode("utf-8")
    data.utf()  # the folder of the bucket
    created = data.long()
    if not data.boolean():
        return []
    version, size = data.integer(), data.count("bytes")
    if version != _PART_VERSION or data.integer() != _PART:
        raise ValueError(f"part files of version {version} are not known")
    if data.boolean():
        data.utf()
    _, size = data.integer(), data.count("bytes")
    place = data.take(size)
    if int.from_bytes(place[:_LENGTH], "little") != _LOCAL:
        raise ValueError("the part file is not in a local folder")
    size, final, hidden = struct.unpack_from("<qii", place, _LENGTH)
    paths = place[_LENGTH + 16 :]
    if len(paths) != final + hidden:
        raise ValueError("the place of a part file is damaged")
    path, in_progress = (text.decode("utf-8") for text in (paths[:final], paths[final:]))
    return [InProgressFile(bucket, in_progress, path, size, created, created)]
