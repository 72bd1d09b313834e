"""Compacts the part files of a checkpoint into files of about a size."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._connectors.files.bucket_naming import BasePathBuckets, parse_time_zone
from pyflink_on_spark._connectors.files.config import (
    Compaction,
    CompactionStrategy,
    Compactor,
    Concatenation,
    FileSinkConfig,
    FileSourceConfig,
    RollingLimits,
)
from pyflink_on_spark._connectors.files.part_file import PendingFile
from pyflink_on_spark._connectors.files.source import SplitFileSource
from pyflink_on_spark._connectors.formats.file_format import (
    FileSplit,
    InputFileFormat,
    OutputFileFormat,
)
from pyflink_on_spark._filesystem.file_system import FileSystem
from pyflink_on_spark._filesystem.local_files import LOCAL
from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._sql.codegen.program import Program
from pyflink_on_spark._sql.codegen.rows import compile_value
from pyflink_on_spark._sql.errors import TableError, ValidationError
from pyflink_on_spark._sql.plan.expressions import Conversion, InputRef
from pyflink_on_spark._sql.plan.nodes import ChangeKinds, Schema
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
from pyflink_on_spark._sql.tables.connectors.filesystem.partitions import (
    METADATA,
    CommitTrigger,
    DecodeWithPaths,
    EncodeWithFolders,
    OfPairs,
    OverwritingSink,
    PartitionBuckets,
    PartitionedConfig,
    PartitionSink,
    PartitionTime,
    PartitionTimeTrigger,
    ProcessingTimeTrigger,
    TableFileSink,
    WithPaths,
)
from pyflink_on_spark._sql.tables.formats.format import (
    DecodeOperator,
    Decoder,
    EncodeInserts,
    EncodeOperator,
    Encoder,
    RowsDecoder,
    RowsEncoder,
    find_format,
)
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import LogicalType

_OPEN_BINS = 10


@dataclass(frozen=True)
class Packing(CompactionStrategy):
    """Puts each file into the first group of its bucket that has space for it.

    Groups have files of one checkpoint only, and no file waits for a later checkpoint.
    ``size_threshold`` is the size that a group may have, in bytes.
    """

    def groups(
        self, files: Iterable[PendingFile]
    ) -> tuple[list[list[PendingFile]], list[list[PendingFile]]]:
        by_bucket: dict[str, list[PendingFile]] = {}
        for file in files:
            by_bucket.setdefault(file.bucket, []).append(file)
        return [group for found in by_bucket.values() for group in self._packed(found)], []

    def _packed(self, files: list[PendingFile]) -> list[list[PendingFile]]:
        groups: list[list[PendingFile]] = []
        spaces: list[int] = []
        for file in files:
            for index in range(max(len(groups) - _OPEN_BINS, 0), len(groups)):
                if file.size <= spaces[index]:
                    groups[index].append(file)
                    spaces[index] -= file.size
                    break
            else:
                groups.append([file])
                spaces.append(self.size_threshold - file.size)
        return groups


@dataclass(frozen=True)
class Rewriting(Compactor):
    """Reads the records of files, and writes them to one file of the same format.

    Args:
        records: reads them.
        form: writes them.
    """

    records: InputFileFormat
    form: OutputFileFormat

    def compact(self, paths: list[str], output: BinaryIO, files: FileSystem = LOCAL) -> None:
        writer = self.form.open(output)
        try:
            convert = self.form.converter()
            for path in paths:
                for bundle in self.records.read(FileSplit(files.input_path(path))):
                    writer.write([convert(value) for value in bundle.values])
            writer.finish()
        except BaseException:
            writer.abandon()
            raise


_POLICY = Option("sink.partition-commit.policy.kind", text)
_POLICY_CLASS = Option("sink.partition-commit.policy.class", text)
_POLICY_ARGUMENTS = Option("sink.partition-commit.policy.class.parameters", text)
_SUCCESS_FILE = Option("sink.partition-commit.success-file.name", text, default="_SUCCESS")
_TRIGGER = Option(
    "sink.partition-commit.trigger",
    one_of("process-time", "partition-time"),
    default="process-time",
)
_DELAY = Option("sink.partition-commit.delay", duration, default=0)
_ZONE = Option("sink.partition-commit.watermark-time-zone", text, default="UTC")
_EXTRACTOR = Option("partition.time-extractor.kind", text, default="default")
_EXTRACTOR_CLASS = Option("partition.time-extractor.class", text)
_TIMESTAMP_PATTERN = Option("partition.time-extractor.timestamp-pattern", text)
_FORMATTER = Option("partition.time-extractor.timestamp-formatter", text)

OPTIONS = (
    _POLICY, _POLICY_CLASS, _POLICY_ARGUMENTS, _SUCCESS_FILE, _TRIGGER, _DELAY, _ZONE, _EXTRACTOR,
    _EXTRACTOR_CLASS, _TIMESTAMP_PATTERN, _FORMATTER,
)  # fmt: skip


def success_file(context: TableContext) -> str | None:
    """Return the name of the file that is put into a complete partition, or None.

    In batch mode a table without partitions counts as one partition, but not in streaming mode.

    Raises:
        TableError: there is no such policy.
        UnsupportedFlinkFeature: the policy is a Java class.
    """
    options = context.options
    options.note(OPTIONS)
    if not options.has(_POLICY):
        return None
    kinds = [kind.strip().lower() for kind in options[_POLICY].split(",")]
    for kind in kinds:
        if kind == "custom":
            _refuse_class(_POLICY_CLASS, "Use the policy 'success-file'.")
        if kind not in {"success-file", "metastore"}:
            raise TableError(f"Unsupported policy: {kind}")
    if "metastore" in kinds and not context.batch:
        raise TableError(
            "Can not configure a 'metastore' partition commit policy for a file system table. You "
            "can only configure 'metastore' partition commit policy for a hive table."
        )
    if not context.batch and not context.partition_by:
        return None
    return options[_SUCCESS_FILE] if "success-file" in kinds else None


def commit_trigger(options: TableOptions) -> CommitTrigger:
    """Return the trigger that commits complete partitions.

    Raises:
        UnsupportedFlinkFeature: times are read by a Java class.
    """
    delay = options[_DELAY]
    if options[_TRIGGER] == "process-time":
        return ProcessingTimeTrigger(delay)
    kind = options[_EXTRACTOR]
    if kind == "custom":
        _refuse_class(_EXTRACTOR_CLASS, f"Describe the times with '{_TIMESTAMP_PATTERN.key}'.")
    if kind != "default":
        raise TableError(f"Unsupported extractor kind: {kind}")
    time = PartitionTime(options[_TIMESTAMP_PATTERN], options[_FORMATTER], options[_ZONE])
    return PartitionTimeTrigger(delay, time)


def check_time_zone(options: TableOptions) -> None:
    """Check the time zone of watermarks.

    Raises:
        ValidationError: there is no such time zone.
    """
    try:
        parse_time_zone(options[_ZONE])
    except ValueError:
        raise ValidationError(
            f"Invalid time zone for '{_ZONE.key}'. The value should be a Time Zone Database (TZDB) "
            "ID such as 'America/Los_Angeles' to include daylight saving time. Fixed offsets are "
            "supported using 'GMT-03:00' or 'GMT+03:00'. Or use 'UTC' without time zone and "
            "daylight saving time."
        ) from None


def _refuse_class(option: Option[Any], instead: str) -> None:
    raise_unsupported(
        f"'{option.key}'", kind=Gap.NEVER, reason="there are no Java classes", instead=instead
    )


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
        *OPTIONS,
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
        options.note((_PARALLELISM, *_FILES, *OPTIONS))
        check_time_zone(options)
        found = FileSourceConfig.of(records or loaded.file_messages(own), (options[_PATH],))
        config = replace(
            found,
            discovery_interval=options[_MONITOR],
            path_pattern=options[_PATTERN],
            table=str(context.path),
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
        by_folder = options[_SHUFFLE] and not set(context.partition_by) <= set(context.fixed)
        check_time_zone(options)
        config = _sink_config(context)
        if options[_COMPACTION] and not context.batch:
            records = loaded.file_input(parts.stored, own, context.time_zone)
            config = replace(config, compaction=_compaction(options, records, bulk))
        sink: type[TableFileSink] = OverwritingSink if context.overwrite else TableFileSink
        if isinstance(config, PartitionedConfig):
            sink = PartitionSink
        return _FilesSink(config, encoder, bulk, options[_PARALLELISM], parts, sink, by_folder)


def _sink_config(context: TableContext) -> FileSinkConfig:
    options = context.options
    rolling = RollingLimits(
        options[_FILE_SIZE],
        options[_ROLLOVER],
        options[_INACTIVITY],
        on_checkpoint=options[_COMPACTION] and not context.batch,
    )
    path, check = options[_PATH], options[_CHECK]
    marker = success_file(context)
    if marker is None or context.batch:
        return FileSinkConfig(
            path, rolling=rolling, bucket_check_interval=check, success_file=marker
        )
    return PartitionedConfig(
        path,
        rolling=rolling,
        bucket_check_interval=check,
        trigger=commit_trigger(options),
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
    """The columns in the files, and those in the names of folders.

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
        """Return the programs that parse the names of folders, by column."""
        return tuple((name, self._reader(name)) for name in self.names)

    def writers(self) -> tuple[tuple[str, Program], ...]:
        """Return the programs that write the names of folders, by column."""
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
        by_folder: bool,
    ) -> None:
        self._config, self._encoder, self._bulk = config, encoder, bulk
        self._parallelism, self._parts, self._made = parallelism, parts, made
        self._by_folder = by_folder
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
                self._by_folder,
            )
            names = self._parts.names if self._by_folder else ()
            by = tuple(map(schema.names.index, names))
            return Writing(self._made(config), encode, self._parallelism, spread_by=by)
        sink = self._made(replace(self._config, buckets=BasePathBuckets(), bulk=bulk))
        if bulk is not None:
            return Writing(sink, None, self._parallelism)
        encode_rows: Operator = EncodeOperator(self._encoder)
        if self._encoder.accepts is not ChangeKinds.INSERT and not changelog:
            encode_rows = EncodeInserts(self._encoder)
        return Writing(sink, encode_rows, self._parallelism)
