"""The connector ``filesystem``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._connectors.files.bucket_naming import BasePathBuckets
from pyflink_on_spark._connectors.files.config import FileSinkConfig, FileSourceConfig
from pyflink_on_spark._connectors.files.sink import PartFileSink
from pyflink_on_spark._connectors.files.source import SplitFileSource
from pyflink_on_spark._connectors.formats.text_lines import TextLines
from pyflink_on_spark._sql.connectors.options import Option, duration, integer, text
from pyflink_on_spark._sql.connectors.table import (
    Reading,
    TableContext,
    TableFactory,
    TableSink,
    TableSource,
    Writing,
)
from pyflink_on_spark._sql.formats.format import (
    DecodeOperator,
    Decoder,
    EncodeOperator,
    Encoder,
)
from pyflink_on_spark._sql.formats.registry import find_format
from pyflink_on_spark.common.typeinfo import Types

if TYPE_CHECKING:
    from pyflink_on_spark._sql.plan.schema import Schema

_PATH = Option("path", text, required=True)
_FORMAT = Option("format", text, required=True)
_MONITOR = Option("source.monitor-interval", duration)
_PARALLELISM = Option("sink.parallelism", integer)


class FilesystemFactory(TableFactory):
    """Makes tables of the files in a folder."""

    identifier = "filesystem"
    options = (_PATH, _FORMAT, _MONITOR, _PARALLELISM)  # type: ignore[assignment]

    def source(self, context: TableContext) -> TableSource:
        """Return a table to be scanned."""
        _check_no_partitions(context)
        options = context.options
        loaded, own = find_format(options)
        decoder = loaded.decoder(context.schema.physical, own, context.time_zone)
        options.note((_PARALLELISM,))
        return _FilesTable(options[_PATH], options[_MONITOR], decoder)

    def sink(self, context: TableContext) -> TableSink:
        """Return a table to be written."""
        _check_no_partitions(context)
        if context.overwrite:
            raise_unsupported(
                "INSERT OVERWRITE",
                kind=Gap.NOT_YET,
                reason="files are only added",
                instead="Remove the files first, and use INSERT INTO.",
            )
        options = context.options
        loaded, own = find_format(options)
        encoder = loaded.encoder(context.schema.physical, own, context.time_zone)
        options.note((_MONITOR,))
        return _FilesSink(options[_PATH], encoder, options[_PARALLELISM])


class _FilesTable(TableSource):
    def __init__(self, path: str, interval: int | None, decoder: Decoder) -> None:
        self._path, self._interval, self._decoder = path, interval, decoder

    def reading(self, metadata: tuple[str, ...]) -> Reading:
        options = FileSourceConfig.of(TextLines(), (self._path,))
        if self._interval is not None:
            options = FileSourceConfig(
                options.file_format, options.paths, discovery_interval=self._interval
            )
        return Reading(SplitFileSource(options), DecodeOperator(self._decoder))


class _FilesSink(TableSink):
    def __init__(self, path: str, encoder: Encoder, parallelism: int | None) -> None:
        self._path, self._encoder, self._parallelism = path, encoder, parallelism

    def writing(self, schema: Schema, changelog: bool) -> Writing:
        options = FileSinkConfig(self._path, buckets=BasePathBuckets())
        sink = PartFileSink(options).with_input_type(Types.STRING())
        return Writing(sink, EncodeOperator(self._encoder), self._parallelism)


def _check_no_partitions(context: TableContext) -> None:
    if context.partition_by:
        raise_unsupported(
            "PARTITIONED BY",
            kind=Gap.NOT_YET,
            reason="files are in one folder",
            instead="Leave it out, and keep the column in the files.",
        )
