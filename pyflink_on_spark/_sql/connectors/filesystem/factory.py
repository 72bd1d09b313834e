"""The connector ``filesystem``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pyflink_on_spark._connectors.files.bucket_naming import BasePathBuckets
from pyflink_on_spark._connectors.files.config import FileSinkConfig, FileSourceConfig
from pyflink_on_spark._connectors.files.rolling import RollingLimits
from pyflink_on_spark._connectors.files.sink import PartFileSink
from pyflink_on_spark._connectors.files.source import SplitFileSource
from pyflink_on_spark._connectors.formats.input_format import InputFileFormat
from pyflink_on_spark._connectors.formats.output_format import OutputFileFormat
from pyflink_on_spark._connectors.formats.text_lines import TextLines
from pyflink_on_spark._runtime.operators.operator import Operator
from pyflink_on_spark._sql.compiler.program import Program
from pyflink_on_spark._sql.compiler.rows import compile_value
from pyflink_on_spark._sql.connectors.filesystem import announcing
from pyflink_on_spark._sql.connectors.filesystem.overwriting import OverwritingSink
from pyflink_on_spark._sql.connectors.filesystem.paths import (
    METADATA,
    DecodeWithPaths,
    EncodeWithFolders,
    Lines,
    OfPairs,
    PartitionBuckets,
    WithPaths,
)
from pyflink_on_spark._sql.connectors.options import Option, duration, integer, memory_size, text
from pyflink_on_spark._sql.connectors.table import (
    Reading,
    TableContext,
    TableFactory,
    TableSink,
    TableSource,
    Writing,
)
from pyflink_on_spark._sql.errors import TableError
from pyflink_on_spark._sql.formats.format import (
    DecodeOperator,
    Decoder,
    EncodeInserts,
    EncodeOperator,
    Encoder,
    RowsDecoder,
    RowsEncoder,
)
from pyflink_on_spark._sql.formats.registry import find_format
from pyflink_on_spark._sql.plan.expressions import Conversion, InputRef
from pyflink_on_spark._sql.plan.schema import Schema
from pyflink_on_spark._sql.planner.changes import ModifyKinds
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import LogicalType
from pyflink_on_spark.common.typeinfo import Types

_PATH = Option("path", text, required=True)
_FORMAT = Option("format", text, required=True)
_MONITOR = Option("source.monitor-interval", duration)
_PARALLELISM = Option("sink.parallelism", integer)
_FILE_SIZE = Option("sink.rolling-policy.file-size", memory_size, default=128 * 1024**2)
_ROLLOVER = Option("sink.rolling-policy.rollover-interval", duration, default=30 * 60 * 1000)
_CHECK = Option("sink.rolling-policy.check-interval", duration, default=60 * 1000)
_ROLLING = (_FILE_SIZE, _ROLLOVER, _CHECK)


class FilesystemFactory(TableFactory):
    """Makes tables of the files in a folder."""

    identifier = "filesystem"
    overwrites = True
    options = (  # type: ignore[assignment]
        _PATH, _FORMAT, _MONITOR, _PARALLELISM, *_ROLLING, *announcing.OPTIONS,
    )  # fmt: skip

    def source(self, context: TableContext) -> TableSource:
        """Return a table to be scanned."""
        options = context.options
        loaded, own = find_format(options)
        parts = _Partitioning.of(context)
        records = loaded.file_input(parts.stored, own, context.time_zone)
        decoder: Decoder = RowsDecoder()
        if records is None:
            decoder = loaded.decoder(parts.stored, own, context.time_zone)
        options.note((_PARALLELISM, *_ROLLING, *announcing.OPTIONS))
        return _FilesTable(options[_PATH], options[_MONITOR], records, decoder, parts)

    def sink(self, context: TableContext) -> TableSink:
        """Return a table to be written."""
        if context.overwrite and not context.batch:
            raise TableError("Streaming mode not support overwrite.")
        options = context.options
        loaded, own = find_format(options)
        parts = _Partitioning.of(context)
        bulk = loaded.file_output(parts.stored, own, context.time_zone)
        encoder: Encoder = RowsEncoder()
        if bulk is None:
            encoder = loaded.encoder(parts.stored, own, context.time_zone)
        options.note((_MONITOR, *_ROLLING))
        rolling = RollingLimits(part_size=options[_FILE_SIZE], rollover_interval=options[_ROLLOVER])
        config = FileSinkConfig(
            options[_PATH],
            rolling=rolling,
            bucket_check_interval=options[_CHECK],
            success_file=announcing.success_file(context),
        )
        made = OverwritingSink if context.overwrite else PartFileSink
        return _FilesSink(config, encoder, bulk, options[_PARALLELISM], parts, made)


@dataclass(frozen=True)
class _Partitioning:
    """Which columns are in the files, and which in the names of folders.

    Args:
        schema: all columns.
        names: the partition columns.
        time_zone: the session's, by name.
    """

    schema: Schema
    names: tuple[str, ...]
    time_zone: str

    @classmethod
    def of(cls, context: TableContext) -> _Partitioning:
        return cls(context.schema.physical, context.partition_by, context.time_zone)

    @property
    def columns(self) -> tuple[int, ...]:
        """The places of the columns that are in the files."""
        return tuple(i for i, name in enumerate(self.schema.names) if name not in self.names)

    @property
    def stored(self) -> Schema:
        """The columns that are in the files."""
        return Schema(
            tuple(self.schema.names[index] for index in self.columns),
            tuple(self.schema.types[index] for index in self.columns),
        )

    @property
    def order(self) -> tuple[int, ...]:
        """For each column its place among those in the files, then those of the folders."""
        known = [*self.stored.names, *self.names]
        return tuple(known.index(name) for name in self.schema.names)

    def readers(self) -> tuple[tuple[str, Program], ...]:
        """Return what makes values of the texts of folders."""
        return tuple((name, self._reader(name)) for name in self.names)

    def writers(self) -> tuple[tuple[str, Program], ...]:
        """Return what makes texts of the values of a row."""
        return tuple((name, self._writer(name)) for name in self.names)

    def _reader(self, name: str) -> Program:
        kind = self.schema.types[self.schema.names.index(name)]
        written = InputRef(logical.STRING, 0)
        return compile_value(Conversion(kind, written), 1, self.time_zone)

    def _writer(self, name: str) -> Program:
        index = self.schema.names.index(name)
        value = InputRef(self.schema.types[index], index)
        text = Conversion(logical.STRING, value)
        return compile_value(text, len(self.schema), self.time_zone)


class _FilesTable(TableSource):
    def __init__(
        self,
        path: str,
        interval: int | None,
        records: InputFileFormat | None,
        decoder: Decoder,
        parts: _Partitioning,
    ) -> None:
        self._path, self._interval, self._decoder = path, interval, decoder
        self._records, self._parts = records, parts
        self.changes = decoder.changes

    def metadata(self) -> Mapping[str, LogicalType]:
        return METADATA

    def reading(self, metadata: tuple[str, ...]) -> Reading:
        records: InputFileFormat = self._records or TextLines()
        decode: Operator | None = None if self._records else DecodeOperator(self._decoder)
        if metadata or self._parts.names:
            records = WithPaths(records)
            parts = self._parts
            decode = DecodeWithPaths(self._decoder, parts.readers(), parts.order, metadata)
        config = FileSourceConfig.of(records, (self._path,))
        if self._interval is not None:
            config = replace(config, discovery_interval=self._interval)
        return Reading(SplitFileSource(config), decode)


class _FilesSink(TableSink):
    def __init__(
        self,
        config: FileSinkConfig,
        encoder: Encoder,
        bulk: OutputFileFormat | None,
        parallelism: int | None,
        parts: _Partitioning,
        made: type[PartFileSink],
    ) -> None:
        self._config, self._encoder, self._bulk = config, encoder, bulk
        self._parallelism, self._parts, self._made = parallelism, parts, made
        self.accepts = encoder.accepts

    def writing(self, schema: Schema, changelog: bool) -> Writing:
        if self._parts.names:
            return self._partitioned()
        config = replace(self._config, buckets=BasePathBuckets(), bulk=self._bulk)
        if self._bulk is not None:
            return Writing(self._made(config), None, self._parallelism)
        sink = self._made(config).with_input_type(Types.STRING())
        encode: Operator = EncodeOperator(self._encoder)
        if self._encoder.accepts is not ModifyKinds.INSERT and not changelog:
            encode = EncodeInserts(self._encoder)
        return Writing(sink, encode, self._parallelism)

    def _partitioned(self) -> Writing:
        bulk = OfPairs(self._bulk or Lines())
        config = replace(self._config, buckets=PartitionBuckets(), bulk=bulk)
        encode = EncodeWithFolders(self._encoder, self._parts.writers(), self._parts.columns)
        return Writing(self._made(config), encode, self._parallelism)
