"""Files of CSV as Flink's first connector for them reads and writes them."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, BinaryIO

from pyflink_on_spark._connectors.files.config import FileSourceConfig
from pyflink_on_spark._connectors.files.source import SplitFileSource
from pyflink_on_spark._connectors.formats.file_format import (
    FileSplit,
    InputFileFormat,
    LineMessages,
)
from pyflink_on_spark._filesystem.file_system import FileSystem
from pyflink_on_spark._filesystem.location import absolute, locate
from pyflink_on_spark._runtime.contract.connector import Sink, SinkWriter
from pyflink_on_spark._runtime.elements.bundle import Bundle
from pyflink_on_spark._sql.plan.options import Option, boolean, integer, one_of, text
from pyflink_on_spark._sql.plan.ports import (
    Reading,
    TableContext,
    TableFactory,
    TableSink,
    TableSource,
    Writing,
)
from pyflink_on_spark._sql.tables.formats.csv import CsvDialect, not_null_reader
from pyflink_on_spark._sql.tables.formats.format import (
    Decode,
    DecodeOperator,
    Decoder,
    Encode,
    EncodeOperator,
    Encoder,
)
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import LogicalType, Root
from pyflink_on_spark._sql.types.temporal import MICROS_PER_DAY, date_text
from pyflink_on_spark._sql.types.text import print_text

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext
    from pyflink_on_spark._sql.plan.nodes import Schema
    from pyflink_on_spark.common.typeinfo import TypeInformation

_PATH = Option("path", text, required=True)
_DELIMITER = Option("field-delimiter", text, default=",")
_LINES = Option("line-delimiter", text, default="\n")
_QUOTE = Option("quote-character", text)
_COMMENTS = Option("comment-prefix", text)
_FIRST_LINE = Option("ignore-first-line", boolean, default=False)
_LENIENT = Option("ignore-parse-errors", boolean, default=False)
_EMPTY_IS_NULL = Option("empty-column-as-null", boolean, default=False)
_MODE = Option("write-mode", one_of("no-overwrite", "overwrite"), default="no-overwrite")
_FILES = Option("num-files", integer)


@dataclass(frozen=True)
class FormerDialect:
    """How lines are written.

    Args:
        delimiter: stands between fields.
        quote: stands around texts, or None.
        comments: what the lines begin with that are left out, or None.
        lenient: whether a field that cannot be read is NULL, and a short line left out.
        empty_is_null: whether an empty text is NULL.
    """

    delimiter: str = ","
    quote: str | None = None
    comments: str | None = None
    lenient: bool = False
    empty_is_null: bool = False


class FormerCsvFactory(TableFactory):
    """The tables of ``CsvTableSource`` and ``CsvTableSink``."""

    identifier = "former-csv"
    options = (  # type: ignore[assignment]
        _PATH, _DELIMITER, _LINES, _QUOTE, _COMMENTS, _FIRST_LINE, _LENIENT, _EMPTY_IS_NULL, _MODE,
        _FILES,
    )  # fmt: skip

    def source(self, context: TableContext) -> TableSource:
        """Return a table to be scanned."""
        options = context.options
        options.note((_MODE, _FILES))
        schema = context.schema.physical
        dialect = FormerDialect(
            str(options[_DELIMITER]),
            options[_QUOTE],
            options[_COMMENTS],
            bool(options[_LENIENT]),
            bool(options[_EMPTY_IS_NULL]),
        )
        form = _Lines(str(options[_LINES]), bool(options[_FIRST_LINE]))
        found = FileSourceConfig.of(form, (str(options[_PATH]),))
        config = replace(found, table=str(context.path))
        return _FormerTable(config, _FormerDecoder(schema, dialect))

    def sink(self, context: TableContext) -> TableSink:
        """Return a table to be written."""
        options = context.options
        options.note((_LINES, _QUOTE, _COMMENTS, _FIRST_LINE, _LENIENT, _EMPTY_IS_NULL))
        overwrite = options[_MODE] == "overwrite"
        sink = FormerCsvSink(absolute(str(options[_PATH])), overwrite)
        encoder = _FormerEncoder(context.schema.physical, str(options[_DELIMITER]))
        files = options[_FILES]
        return _FormerSink(sink, encoder, files if files is not None and files > 0 else None)


class _FormerTable(TableSource):
    def __init__(self, config: FileSourceConfig, decoder: Decoder) -> None:
        self._config, self._decoder = config, decoder

    def reading(self, metadata: tuple[str, ...]) -> Reading:
        return Reading(SplitFileSource(self._config), DecodeOperator(self._decoder))


class _FormerSink(TableSink):
    def __init__(self, sink: FormerCsvSink, encoder: Encoder, parallelism: int | None) -> None:
        self._sink, self._encoder, self._parallelism = sink, encoder, parallelism

    def writing(self, schema: Schema, changelog: bool) -> Writing:
        return Writing(self._sink, EncodeOperator(self._encoder), self._parallelism)


class _Lines(InputFileFormat):
    """Lines of files, each without its end.

    Args:
        delimiter: what ends a line.
        skips_first: whether the first line of each file is left out.
        most: how many bytes a line may have.
    """

    def __init__(self, delimiter: str, skips_first: bool, most: int = sys.maxsize) -> None:
        self._delimiter, self._skips_first = delimiter, skips_first
        self._inner = LineMessages(most=most)

    def with_most(self, most: int) -> _Lines:
        """The same, where a line may have so many bytes."""
        return _Lines(self._delimiter, self._skips_first, most)

    @property
    def produced_type(self) -> TypeInformation:
        return self._inner.produced_type

    def is_splittable(self, path: str) -> bool:
        usual = self._delimiter in {"\n", "\r\n"}
        return usual and not self._skips_first and self._inner.is_splittable(path)

    def read(self, split: FileSplit) -> Iterator[Bundle]:
        bundles = self._inner.read(split)
        if self._delimiter not in {"\n", "\r\n"}:
            bundles = self._divided(bundles)
        if not self._skips_first:
            yield from bundles
            return
        for bundle in bundles:
            yield Bundle(bundle.values[1:])
            break
        yield from bundles

    def _divided(self, bundles: Iterator[Bundle]) -> Iterator[Bundle]:
        whole = "\n".join(_text(line) for bundle in bundles for line in bundle.values)
        lines = whole.removesuffix("\n").split(self._delimiter)
        yield Bundle(lines if lines[-1] else lines[:-1])

    def resume(self, split: FileSplit, position: Any) -> Iterator[tuple[Bundle, object]] | None:
        return self._inner.resume(split, position) if self.is_splittable(split.path) else None


class _FormerDecoder(Decoder):
    def __init__(self, schema: Schema, dialect: FormerDialect) -> None:
        self._schema, self._dialect = schema, dialect

    def load(self) -> Decode:
        dialect, kinds = self._dialect, self._schema.types
        fields = _Fields(dialect, tuple(kind.root in logical.CHARACTERS for kind in kinds))
        readers = [_reader(kind, dialect) for kind in kinds]
        lenient, comments = dialect.lenient, dialect.comments

        def decode(messages: Iterator[object]) -> Iterator[Any]:
            for message in messages:
                line = _text(message)
                if comments is not None and line.startswith(comments):
                    continue
                parts = fields(line)
                if parts is None and lenient:
                    continue
                if parts is None:
                    raise ValueError(f"Row too short: {line}")
                yield tuple([read(part) for read, part in zip(readers, parts)])

        return decode


def _text(message: Any) -> str:
    return message if type(message) is str else message.decode("utf-8", "replace")


class _Fields:
    """Divides a line into fields; further ones are left out."""

    def __init__(self, dialect: FormerDialect, texts: tuple[bool, ...]) -> None:
        self._delimiter, self._quote, self._texts = dialect.delimiter, dialect.quote, texts
        if dialect.quote is not None:
            quote = re.escape(dialect.quote)
            self._quoted = re.compile(rf"{quote}((?:\\.|[^\\{quote}])*){quote}", re.DOTALL)

    def __call__(self, line: str) -> list[str] | None:
        """Return the fields; None if there are too few."""
        if self._quote is not None and self._quote in line:
            return self._with_quotes(line)
        parts = line.split(self._delimiter)
        width = len(self._texts)
        return parts[:width] if len(parts) >= width else None

    def _with_quotes(self, line: str) -> list[str] | None:
        parts: list[str] = []
        place = 0
        for is_text in self._texts:
            if place > len(line):
                return None
            found = self._quoted.match(line, place) if is_text else None
            if found is None:
                if is_text and self._quote is not None and line.startswith(self._quote, place):
                    raise ValueError(f"UNTERMINATED_QUOTED_STRING in the row {line!r}")
                end = line.find(self._delimiter, place)
                end = len(line) if end < 0 else end
                parts.append(line[place:end])
            else:
                end = found.end()
                if end < len(line) and not line.startswith(self._delimiter, end):
                    raise ValueError(f"UNQUOTED_CHARS_AFTER_QUOTED_STRING in the row {line!r}")
                parts.append(found[1])
            place = end + len(self._delimiter)
        return parts


def _reader(kind: LogicalType, dialect: FormerDialect) -> Callable[[str], object]:
    if kind.root in logical.CHARACTERS:
        return (lambda part: part or None) if dialect.empty_is_null else str
    read = not_null_reader(kind, CsvDialect())
    if kind.root is Root.BOOLEAN:
        read = _boolean

    def field(part: str) -> Any:
        if not part:
            return None
        try:
            if part != part.strip():
                raise ValueError(f"there is a blank in {part!r}")
            return read(part)
        except ValueError:
            if dialect.lenient:
                return None
            raise

    return field


_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


def _boolean(part: str) -> bool:
    try:
        return _BOOLEANS[part.lower()]
    except KeyError:
        raise ValueError(f"{part!r} is no boolean") from None


class _FormerEncoder(Encoder):
    def __init__(self, schema: Schema, delimiter: str) -> None:
        self._schema, self._delimiter = schema, delimiter

    def load(self) -> Encode:
        writers = [_writer(kind) for kind in self._schema.types]
        join = self._delimiter.join

        def encode(rows: Iterator[Any]) -> Iterator[object]:
            for row in rows:
                yield join([write(value) for write, value in zip(writers, row)])

        return encode


def _writer(kind: LogicalType) -> Callable[[Any], str]:
    write = _timestamp_text if kind.root in logical.TIMESTAMPS else print_text(kind)
    return lambda value: "" if value is None else write(value)


def _timestamp_text(micros: int) -> str:
    """Return a timestamp as Java's ``Timestamp`` writes it, with one digit after the dot or more.

    That is what the sink has got of Flink.
    """
    days, time = divmod(micros, MICROS_PER_DAY)
    seconds, fraction = divmod(time, 1_000_000)
    minutes, second = divmod(seconds, 60)
    clock = f"{minutes // 60:02}:{minutes % 60:02}:{second:02}"
    return f"{date_text(days)} {clock}.{f'{fraction:06}'.rstrip('0') or '0'}"


class FormerCsvSink(Sink):
    """Writes a file, or a folder with a file for each subtask if there are several.

    It writes when rows arrive and commits nothing, as Flink's sink does: after a failure there are
    the rows of an unfinished run.

    Args:
        path: an absolute path or a URI.
        overwrite: whether what was there before goes.
        configuration: the job's, which may say how to reach the file system.
    """

    def __init__(
        self, path: str, overwrite: bool, configuration: Mapping[str, str] | None = None
    ) -> None:
        self._path, self._overwrite = path, overwrite
        self._configuration = configuration or {}

    def with_configuration(self, configuration: Mapping[str, str]) -> Sink:
        """Return this sink for a job."""
        return FormerCsvSink(self._path, self._overwrite, dict(configuration))

    @property
    def claims(self) -> frozenset[str]:
        """The file, of which a job has one sink."""
        return frozenset({f"the file {self._path}"})

    def writer(self, context: OperatorContext) -> SinkWriter:
        """Return the writer of one subtask."""
        place = locate(self._path, self._configuration)
        path, task = place.path, context.task
        if task.parallelism > 1:
            path = f"{path}/{task.subtask_index + 1}"
        return _FormerWriter(place.files, path, self._overwrite)


class _FormerWriter(SinkWriter):
    def __init__(self, files: FileSystem, path: str, overwrite: bool) -> None:
        there = files.exists(path)
        if there and not overwrite:
            raise FileExistsError(
                f"File or directory {path} already exists. Existing files and directories are not "
                "overwritten in NO_OVERWRITE mode. Use OVERWRITE mode to overwrite existing files "
                "and directories."
            )
        if there:
            files.remove(path)
        self._file: BinaryIO = files.create(path)

    def write(self, elements: Iterator[Any]) -> None:
        lines = list(elements)
        if lines:
            self._file.write(("\n".join(lines) + "\n").encode())

    def prepare_commit(self) -> list[object]:
        self._file.flush()
        return []

    def close(self) -> None:
        self._file.close()
