"""The sink that writes elements to part files in buckets."""

from __future__ import annotations

import os
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING

from pyflink_on_spark._runtime.connector import Sink
from pyflink_on_spark._runtime.files.bulk_files import BulkBucketWriter
from pyflink_on_spark._runtime.files.encoder import LineEncoder
from pyflink_on_spark._runtime.files.file_sink_options import FileSinkOptions
from pyflink_on_spark._runtime.files.file_sink_writer import FileSinkWriter
from pyflink_on_spark._runtime.files.part_file import PendingFile
from pyflink_on_spark._runtime.files.paths import local_path
from pyflink_on_spark._runtime.types import java_text
from pyflink_on_spark.common._charset import find_charset
from pyflink_on_spark.common.typeinfo import PickledBytesTypeInfo

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.context import OperatorContext
    from pyflink_on_spark.common.typeinfo import TypeInformation


class FileSink(Sink):
    """Writes elements, as a bulk format or as their text, a line each; see FileSinkOptions.

    Raises:
        ValueError: if there is no such character set, or the base path is not one.
    """

    def __init__(self, options: FileSinkOptions, input_type: TypeInformation | None = None) -> None:
        self._options = replace(options, base_path=local_path(options.base_path))
        self._charset = find_charset(options.charset_name)
        self._input_type = input_type
        self._id = uuid.uuid4().hex

    def with_input_type(self, type_info: TypeInformation | None) -> FileSink:
        self._check_input(type_info)
        return FileSink(self._options, type_info)

    def writer(self, context: OperatorContext) -> FileSinkWriter:
        self._check_input(self._input_type)
        bulk = self._options.bulk
        if bulk is not None:
            return FileSinkWriter(
                self._options, bulk.converter(), bulk, context, self._id, BulkBucketWriter
            )
        return FileSinkWriter(
            self._options,
            java_text(self._input_type),
            LineEncoder(self._charset),
            context,
            self._id,
        )

    def _check_input(self, type_info: TypeInformation | None) -> None:
        if self._options.bulk is not None:
            self._options.bulk.check_input(type_info)
        else:
            _check_has_text(type_info)

    def hold_back(
        self, committables: list[PendingFile], checkpoint_id: int
    ) -> tuple[list[PendingFile], list[PendingFile]]:
        if self._options.compaction is None:
            return committables, []
        return self._options.compaction.hold_back(committables, checkpoint_id)

    def commit(self, committables: list[PendingFile]) -> None:
        if self._options.compaction is not None:
            self._options.compaction.commit(committables)
            return
        for file in committables:
            file.commit()

    def commit_again(self, committables: list[PendingFile]) -> None:
        # What is gone was committed, and somebody has moved it since.
        if self._options.compaction is not None:
            self._options.compaction.commit(committables, again=True)
            return
        for file in committables:
            if os.path.exists(file.in_progress_path):
                file.commit()

    def abort(self, committables: list[PendingFile]) -> None:
        for file in committables:
            file.discard()


def _check_has_text(type_info: TypeInformation | None) -> None:
    if type_info is None or isinstance(type_info, PickledBytesTypeInfo):
        raise TypeError(
            "a file sink cannot write the text of a stream without a type: declare one where the "
            "stream is made, for example .map(str, output_type=Types.STRING())"
        )
