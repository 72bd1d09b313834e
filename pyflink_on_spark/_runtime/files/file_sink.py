"""The sink that writes elements to part files in buckets."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.bundle import BUNDLE_SIZE
from pyflink_on_spark._runtime.connector import Sink, SinkWriter
from pyflink_on_spark._runtime.files.bucket import BucketAssigner, DateTimeBuckets
from pyflink_on_spark._runtime.files.bucket_writer import BucketWriter
from pyflink_on_spark._runtime.files.compaction import Compaction
from pyflink_on_spark._runtime.files.encoder import LineEncoder
from pyflink_on_spark._runtime.files.part_file import PendingFile
from pyflink_on_spark._runtime.files.part_names import (
    PartAffixes,
    PartNames,
    SubtaskNames,
    UniqueNames,
)
from pyflink_on_spark._runtime.files.paths import local_path
from pyflink_on_spark._runtime.files.rolling import RollingPolicy
from pyflink_on_spark._runtime.types import java_text
from pyflink_on_spark.common._charset import find_charset
from pyflink_on_spark.common.typeinfo import PickledBytesTypeInfo

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.context import Clock, OperatorContext
    from pyflink_on_spark.common.typeinfo import TypeInformation

DEFAULT_BUCKET_CHECK_INTERVAL = 60 * 1000
_SLOW = 50
"""In ms: how long elements may wait for others to be written with."""


@dataclass(frozen=True)
class FileSinkOptions:
    """How a file sink writes.

    Args:
        base_path: the folder that holds the buckets' folders.
        charset_name: the character set of the files.
        buckets: which bucket an element belongs to.
        rolling: when a part file is finished.
        bucket_check_interval: how often time is checked against the rolling policy, in ms.
        affixes: what stands around the names of part files.
        compaction: how finished part files are put together; None to leave them.
        named_by_subtask: whether part files are numbered by subtask, not by a random id.
    """

    base_path: str
    charset_name: str = "UTF-8"
    buckets: BucketAssigner = field(default_factory=DateTimeBuckets)
    rolling: RollingPolicy = field(default_factory=RollingPolicy)
    bucket_check_interval: int = DEFAULT_BUCKET_CHECK_INTERVAL
    affixes: PartAffixes = field(default_factory=PartAffixes)
    compaction: Compaction | None = None
    named_by_subtask: bool = False


class FileSink(Sink):
    """Writes the text of elements, a line each; see FileSinkOptions.

    Raises:
        ValueError: if there is no such character set, or the base path is not one.
    """

    def __init__(self, options: FileSinkOptions, input_type: TypeInformation | None = None) -> None:
        self._options = replace(options, base_path=local_path(options.base_path))
        self._charset = find_charset(options.charset_name)
        self._input_type = input_type

    def with_input_type(self, type_info: TypeInformation | None) -> FileSink:
        _check_has_text(type_info)
        return FileSink(self._options, type_info)

    def writer(self, context: OperatorContext) -> FileSinkWriter:
        _check_has_text(self._input_type)
        return FileSinkWriter(
            self._options,
            java_text(self._input_type),
            LineEncoder(self._charset),
            context.clock,
            context.task.subtask_index,
        )

    def commit(self, committables: list[PendingFile]) -> None:
        if self._options.compaction is not None:
            self._options.compaction.commit(committables)
            return
        for file in committables:
            file.commit()

    def abort(self, committables: list[PendingFile]) -> None:
        for file in committables:
            file.discard()


class FileSinkWriter(SinkWriter):
    """One subtask's end of a file sink.

    Args:
        options: how to write.
        to_text: the text of an element.
        encoder: how to write a text.
        clock: processing time, which buckets and the rolling policy go by.
        subtask_index: from 0.

    Raises:
        NotADirectoryError: if the base path is a file.
    """

    def __init__(
        self,
        options: FileSinkOptions,
        to_text: Callable[[Any], str],
        encoder: LineEncoder,
        clock: Clock,
        subtask_index: int,
    ) -> None:
        base_path = options.base_path
        if os.path.exists(base_path) and not os.path.isdir(base_path):
            raise NotADirectoryError(f"the folder to write to is a file: {base_path}")
        self._options = options
        self._to_text = to_text
        self._encoder = encoder
        self._clock = clock
        self._subtask_names = SubtaskNames(options.affixes, subtask_index)
        self._buckets: dict[str, BucketWriter] = {}
        self._next_check = clock.now() + options.bucket_check_interval
        self._chunk_size = 64

    def write(self, elements: Iterator[Any]) -> None:
        # The text is taken when an element comes: its function may change the object afterwards.
        texts = map(self._to_text, elements)
        while True:
            before = self._clock.now()
            chunk = list(islice(texts, self._chunk_size))
            if not chunk:
                return
            now = self._clock.now()
            self._adapt_chunk_size(now - before)
            self.advance_processing_time(now)
            self._bucket(now).write(chunk, now)

    def advance_processing_time(self, now: int) -> None:
        """Finish the part files that are too old, if it is time to look; ``now`` in ms."""
        if now < self._next_check:
            return
        self._next_check = now + self._options.bucket_check_interval
        for bucket in self._buckets.values():
            bucket.roll_if_due(now)

    def prepare_commit(self) -> list[PendingFile]:
        for bucket in self._buckets.values():
            bucket.roll()
        pending = {name: bucket.take_finished() for name, bucket in self._buckets.items()}
        for name, files in pending.items():
            if not files:
                del self._buckets[name]
        return [file for files in pending.values() for file in files]

    def close(self) -> None:
        for bucket in self._buckets.values():
            bucket.discard()

    def _adapt_chunk_size(self, elapsed: int) -> None:
        """Keep elements from waiting, since the time of writing decides on their bucket."""
        if elapsed > _SLOW:
            self._chunk_size = max(self._chunk_size // 8, 1)
        else:
            self._chunk_size = min(self._chunk_size * 2, BUNDLE_SIZE)

    def _bucket(self, now: int) -> BucketWriter:
        name = self._options.buckets.bucket(now)
        bucket = self._buckets.get(name)
        if bucket is None:
            folder = os.path.join(self._options.base_path, name)
            bucket = BucketWriter(folder, self._names(), self._encoder, self._options.rolling)
            self._buckets[name] = bucket
        return bucket

    def _names(self) -> PartNames:
        if self._options.named_by_subtask:
            return self._subtask_names
        return UniqueNames(self._options.affixes)


def _check_has_text(type_info: TypeInformation | None) -> None:
    if type_info is None or isinstance(type_info, PickledBytesTypeInfo):
        raise TypeError(
            "a file sink cannot write the text of a stream without a type: declare one where the "
            "stream is made, for example .map(str, output_type=Types.STRING())"
        )
