"""The connector ``filesystem``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pyflink_on_spark._connectors.files.bucket_naming import BasePathBuckets
from pyflink_on_spark._connectors.files.compaction import Compaction, Compactor, Concatenation
from pyflink_on_spark._connectors.files.config import FileSinkConfig, FileSourceConfig
from pyflink_on_spark._connectors.files.rolling import RollingLimits
from pyflink_on_spark._connectors.files.source import SplitFileSource
from pyflink_on_spark._connectors.formats.input_format import InputFileFormat
from pyflink_on_spark._connectors.formats.output_format import OutputFileFormat
from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._sql.codegen.program import Program
from pyflink_on_spark._sql.codegen.rows import compile_value
from pyflink_on_spark._sql.errors import TableError, not_yet
from pyflink_on_spark._sql.plan.changes import ModifyKinds
from pyflink_on_spark._sql.plan.expressions import Conversion, InputRef
from pyflink_on_spark._sql.plan.options import (
    Option,
    TableOptions,
    boolean,
    duration,
    integer,
    memory_size,
    one_of,
    text,
)
from pyflink_on_spark._sql.plan.ports import (
    Reading,
    TableContext,
    TableFactory,
    TableSink,
    TableSource,
    Writing,
)
from pyflink_on_spark._sql.plan.schema import Schema
from pyflink_on_spark._sql.tables.connectors.filesystem import commit_options
from pyflink_on_spark._sql.tables.connectors.filesystem.packing import Packing, Rewriting
from pyflink_on_spark._sql.tables.connectors.filesystem.partition_commits import (
    PartitionedConfig,
    PartitionSink,
)
from pyflink_on_spark._sql.tables.connectors.filesystem.paths import (
    METADATA,
    DecodeWithPaths,
    EncodeWithFolders,
    OfPairs,
    PartitionBuckets,
    WithPaths,
)
from pyflink_on_spark._sql.tables.connectors.filesystem.sink import OverwritingSink, TableFileSink
from pyflink_on_spark._sql.tables.formats.format import (
    DecodeOperator,
    Decoder,
    EncodeInserts,
    EncodeOperator,
    Encoder,
    RowsDecoder,
    RowsEncoder,
)
from pyflink_on_spark._sql.tables.formats.registry import find_format
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import LogicalType

_PATH = Option("path", text, required=True)
_FORMAT = Option("format", text, required=True)
_DEFAULT_NAME = Option("partition.default-name", text, default="__DEFAULT_PARTITION__")
_MONITOR = Option("source.monitor-interval", duration)
_PATTERN = Option("source.path.regex-pattern", text)
_PARALLELISM = Option("sink.parallelism", integer)
_FILE_SIZE = Option("sink.rolling-policy.file-size", memory_size, default=128 * 1024**2)
_ROLLOVER = Option("sink.rolling-policy.rollover-interval", duration, default=30 * 60 * 1000)
_INACTIVITY = Option("sink.rolling-policy.inactivity-interval", duration, default=30 * 60 * 1000)
_CHECK = Option("sink.rolling-policy.check-interval", duration, default=60 * 1000)
_COMPACTION = Option("auto-compaction", boolean, default=False)
_COMPACTED_SIZE = Option("compaction.file-size", memory_size)
_SHUFFLE = Option("sink.shuffle-by-partition.enable", boolean, default=False)
_STATISTICS = Option("source.report-statistics", one_of("all", "none"), default="all")
_FILES = (_FILE_SIZE, _ROLLOVER, _INACTIVITY, _CHECK, _COMPACTION, _COMPACTED_SIZE, _SHUFFLE)


class FilesystemFactory(TableFactory):
    """Makes tables of the files in a folder."""

    identifier = "filesystem"
    overwrites = True
    options = (  # type: ignore[assignment]
        _PATH, _FORMAT, _DEFAULT_NAME, _MONITOR, _PATTERN, _STATISTICS, _PARALLELISM, *_FILES,
        *commit_options.OPTIONS,
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
        # Statistics are for a planner that compares costs; the value has to be right all the same.
        _ = options[_STATISTICS]
        options.note((_PARALLELISM, *_FILES, *commit_options.OPTIONS))
        commit_options.check_time_zone(options)
        found = FileSourceConfig.of(records or loaded.file_messages(own), (options[_PATH],))
        config = replace(
            found, discovery_interval=options[_MONITOR], path_pattern=options[_PATTERN]
        )
        return _FilesTable(config, records is None, decoder, parts)

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
        options.note((_MONITOR, _PATTERN, _STATISTICS, *_FILES))
        if options[_SHUFFLE]:
            not_yet(f"the option '{_SHUFFLE.key}'", None, "Without it there are more files.")
        commit_options.check_time_zone(options)
        config = _sink_config(context)
        if options[_COMPACTION] and not context.batch:
            records = loaded.file_input(parts.stored, own, context.time_zone)
            config = replace(config, compaction=_compaction(options, records, bulk))
        sink: type[TableFileSink] = OverwritingSink if context.overwrite else TableFileSink
        if isinstance(config, PartitionedConfig):
            sink = PartitionSink
        return _FilesSink(config, encoder, bulk, options[_PARALLELISM], parts, sink)


def _sink_config(context: TableContext) -> FileSinkConfig:
    options = context.options
    rolling = RollingLimits(
        options[_FILE_SIZE],
        options[_ROLLOVER],
        options[_INACTIVITY],
        on_checkpoint=options[_COMPACTION] and not context.batch,
    )
    path, check = options[_PATH], options[_CHECK]
    marker = commit_options.success_file(context)
    if marker is None or context.batch:
        return FileSinkConfig(
            path, rolling=rolling, bucket_check_interval=check, success_file=marker
        )
    return PartitionedConfig(
        path,
        rolling=rolling,
        bucket_check_interval=check,
        trigger=commit_options.commit_trigger(options),
        marker=marker,
    )


def _compaction(
    options: TableOptions, records: InputFileFormat | None, bulk: OutputFileFormat | None
) -> Compaction:
    size = options[_COMPACTED_SIZE] or options[_FILE_SIZE]
    compactor: Compactor = Concatenation()
    if records is not None and bulk is not None:
        compactor = Rewriting(records, bulk)
    return Compaction(Packing(size), compactor)


@dataclass(frozen=True)
class _Partitioning:
    """Which columns are in the files, and which in the names of folders.

    Args:
        schema: all columns.
        names: the partition columns.
        time_zone: the session's, by name.
        default: the name of the folder for no value.
    """

    schema: Schema
    names: tuple[str, ...]
    time_zone: str
    default: str

    @classmethod
    def of(cls, context: TableContext) -> _Partitioning:
        default = context.options[_DEFAULT_NAME]
        return cls(context.schema.physical, context.partition_by, context.time_zone, default)

    @property
    def columns(self) -> tuple[int, ...]:
        """The places of the columns that are in the files."""
        return tuple(i for i, name in enumerate(self.schema.names) if name not in self.names)

    @property
    def stored(self) -> Schema:
        """The columns that are in the files."""
        return self.schema.projected(self.columns)

    @property
    def order(self) -> tuple[int, ...]:
        """For each column its place among those in the files, then those of the folders."""
        known = [*self.stored.names, *self.names]
        return tuple(known.index(name) for name in self.schema.names)

    def projected(self, columns: tuple[int, ...]) -> _Partitioning:
        """Return the same of some columns."""
        schema = self.schema.projected(columns)
        names = tuple(name for name in self.names if name in schema.names)
        return replace(self, schema=schema, names=names)

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
        self, config: FileSourceConfig, decodes: bool, decoder: Decoder, parts: _Partitioning
    ) -> None:
        self._config, self._decodes, self._decoder, self._parts = config, decodes, decoder, parts
        self.changes = decoder.changes

    def metadata(self) -> Mapping[str, LogicalType]:
        return METADATA

    def projected(self, columns: tuple[int, ...]) -> TableSource | None:
        stored = self._parts.columns
        found = self._decoder.projected(
            tuple(stored.index(column) for column in columns if column in stored)
        )
        if found is None:
            return None
        parts = self._parts.projected(columns)
        return _FilesTable(self._config, self._decodes, found, parts)

    def reading(self, metadata: tuple[str, ...]) -> Reading:
        config, parts = self._config, self._parts
        decode: Operator | None = None
        if self._decodes:
            decode = DecodeOperator(self._decoder, ends_chain=True)
        if metadata or parts.names:
            config = replace(config, file_format=WithPaths(config.file_format))
            decode = DecodeWithPaths(
                self._decoder, parts.readers(), parts.order, metadata, parts.default
            )
        return Reading(SplitFileSource(config), decode)


class _FilesSink(TableSink):
    def __init__(
        self,
        config: FileSinkConfig,
        encoder: Encoder,
        bulk: OutputFileFormat | None,
        parallelism: int | None,
        parts: _Partitioning,
        made: type[TableFileSink],
    ) -> None:
        self._config, self._encoder, self._bulk = config, encoder, bulk
        self._parallelism, self._parts, self._made = parallelism, parts, made
        self.accepts = encoder.accepts

    def writing(self, schema: Schema, changelog: bool) -> Writing:
        bulk = self._bulk
        if self._parts.names:
            form = None if bulk is None else OfPairs(bulk)
            config = replace(self._config, buckets=PartitionBuckets(), bulk=form)
            encode = EncodeWithFolders(
                self._encoder,
                self._parts.writers(),
                self._parts.columns,
                self._parts.default,
                changelog,
            )
            return Writing(self._made(config), encode, self._parallelism)
        sink = self._made(replace(self._config, buckets=BasePathBuckets(), bulk=bulk))
        if bulk is not None:
            return Writing(sink, None, self._parallelism)
        encode_rows: Operator = EncodeOperator(self._encoder)
        if self._encoder.accepts is not ModifyKinds.INSERT and not changelog:
            encode_rows = EncodeInserts(self._encoder)
        return Writing(sink, encode_rows, self._parallelism)
