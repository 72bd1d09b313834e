"""The connectors elasticsearch-6, -7 and -8 and opensearch: the rows of a table as documents."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import repeat, tee
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._connectors.elasticsearch import (
    Action,
    Backoff,
    DocumentSink,
    DocumentSinkConfig,
    Growth,
    SearchCluster,
    SearchHost,
)
from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._sql.codegen.program import Program
from pyflink_on_spark._sql.codegen.rows import compile_value
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.plan.expressions import Conversion, InputRef
from pyflink_on_spark._sql.plan.nodes import DELETE, INSERT, UPDATE_BEFORE, ChangeKinds, Schema
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
from pyflink_on_spark._sql.plan.ports import TableContext, TableFactory, TableSink, Writing
from pyflink_on_spark._sql.tables.connectors.keyed_records import without_replaced
from pyflink_on_spark._sql.tables.formats.format import Encoder, find_format
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import LogicalType, Root
from pyflink_on_spark._sql.types.temporal import (
    MICROS_PER_DAY,
    date_text,
    format_timestamp,
    time_text,
    timestamp_text,
    to_local,
)

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext

_MEGABYTE = 1024 * 1024
_GUARANTEES = ("at-least-once", "none")
_BACKOFFS = ("disabled", "none", "constant", "exponential")
_ENOUGH_RETRIES, _SHORT_DELAY = 8, 50

HOSTS = Option("hosts", text, required=True)
INDEX = Option("index", text, required=True)
KIND = Option("document-type", text, required=True)
DELIMITER = Option("document-id.key-delimiter", text, default="_")
USERNAME = Option("username", text)
PASSWORD = Option("password", text)
FAILURES = Option("failure-handler", text, default="fail")
FLUSHES = Option("sink.flush-on-checkpoint", boolean, default=True)
GUARANTEE = Option("sink.delivery-guarantee", one_of(*_GUARANTEES), default="at-least-once")
ACTIONS = Option("sink.bulk-flush.max-actions", integer, default=1000)
SIZE = Option("sink.bulk-flush.max-size", memory_size, default=2 * _MEGABYTE)
INTERVAL = Option("sink.bulk-flush.interval", duration, default=1000)
GROWTH = Option("sink.bulk-flush.backoff.strategy", one_of(*_BACKOFFS), default="none")
RETRIES = Option("sink.bulk-flush.backoff.max-retries", integer, default=_ENOUGH_RETRIES)
DELAY = Option("sink.bulk-flush.backoff.delay", duration, default=_SHORT_DELAY)
PREFIX = Option("connection.path-prefix", text)
REQUEST_TIMEOUT = Option("connection.request-timeout", duration)
CONNECT_TIMEOUT = Option("connection.timeout", duration, default=1000)
SOCKET_TIMEOUT = Option("socket.timeout", duration, default=30_000)
FORMAT = Option("format", text, default="json")
PARALLELISM = Option("sink.parallelism", integer)
EVERY: tuple[Option[Any], ...] = (
    HOSTS, INDEX, DELIMITER, USERNAME, PASSWORD, FAILURES, FLUSHES, GUARANTEE, ACTIONS, SIZE,
    INTERVAL, GROWTH, RETRIES, DELAY, PREFIX, REQUEST_TIMEOUT, CONNECT_TIMEOUT, SOCKET_TIMEOUT,
    FORMAT, PARALLELISM,
)  # fmt: skip
"""The options of all four, in the order of the documents."""

_PLACE = re.compile(r"\{([^{}]*)\}")
_NOW = re.compile(r"(?i)now\(\s*\)|current_timestamp")
_PLAIN = (*logical.CHARACTERS, *logical.INTEGERS)
_TEMPORAL = logical.DATETIMES
_PATTERNS = {
    Root.DATE: "yyyy_MM_dd",
    Root.TIME: "HH_mm_ss",
    Root.TIMESTAMP_LTZ: "yyyy_MM_dd_HH_mm_ss'Z'",
}
_PATTERN = "yyyy_MM_dd_HH_mm_ss"
_NO_KEYS = frozenset({
    Root.BINARY, Root.VARBINARY, Root.ARRAY, Root.MAP, Root.MULTISET, Root.ROW, Root.RAW,
})  # fmt: skip


@dataclass(frozen=True)
class IndexName:
    """The index of a row: a fixed name, or one with the value of a column or the time in it.

    Args:
        before: what stands before the value.
        after: what stands after it.
        column: the position of the column, or None.
        kind: the column's type, or None.
        pattern: how a date or a time is written, or None.
        now: whether the time of the clock is the value.
        time_zone: the session's, for the time of the clock.
    """

    before: str
    after: str = ""
    column: int | None = None
    kind: LogicalType | None = None
    pattern: str | None = None
    now: bool = False
    time_zone: str = "UTC"

    @classmethod
    def parse(cls, index: str, schema: Schema, time_zone: str) -> IndexName:
        """Read the option ``index``.

        Raises:
            ValidationError: it has several places for values, or names no column, or one whose
                type cannot stand in the name of an index.
        """
        places = list(_PLACE.finditer(index))
        if not places:
            return cls(index)
        if len(places) > 1:
            raise ValidationError(
                f"Chaining dynamic index pattern {index} is not supported, only support single "
                "dynamic index pattern."
            )
        (place,) = places
        before, after = index[: place.start()], index[place.end() :]
        name, bar, pattern = (part.strip() for part in place[1].partition("|"))
        if _NOW.fullmatch(name):
            pattern = _checked_pattern(index, pattern or _PATTERN)
            return cls(before, after, pattern=pattern, now=True, time_zone=time_zone)
        if name not in schema.names:
            raise ValidationError(
                f"Unknown field '{name}' in index pattern '{index}', please check the field name."
            )
        column = schema.names.index(name)
        kind = schema.types[column]
        if bar and kind.root in _TEMPORAL:
            pattern = _checked_pattern(index, pattern or _PATTERNS.get(kind.root, _PATTERN))
            return cls(before, after, column, kind, pattern)
        if kind.root not in _PLAIN or bar:
            also = ", or DATE, TIME and TIMESTAMP with a pattern as {field|yyyy-MM-dd}"
            raise ValidationError(
                f"Unsupported type {kind} of index field '{name}': texts and whole numbers are "
                f"supported as {{field}}{also}."
            )
        return cls(before, after, column, kind)

    def load(self, clock: Callable[[], int]) -> Callable[[Any], str]:
        """Return the function of a row.

        Args:
            clock: returns the processing time in ms.
        """
        before, after, column, pattern = self.before, self.after, self.column, self.pattern
        if self.now:
            assert pattern is not None
            zone = self.time_zone
            return lambda row: (
                f"{before}{format_timestamp(to_local(clock() * 1000, zone), pattern)}{after}"
            )
        if column is None:
            return lambda row: before
        if pattern is None:
            return lambda row: (
                f"{before}{'null' if row[column] is None else str(row[column])}{after}"
            )
        unit = MICROS_PER_DAY if self.kind is not None and self.kind.root is Root.DATE else 1

        def name(row: Any) -> str:
            value = row[column]
            if value is None:
                raise ValueError("the column that names the index of Elasticsearch is NULL")
            return f"{before}{format_timestamp(value * unit, pattern)}{after}"

        return name


def _checked_pattern(index: str, pattern: str) -> str:
    try:
        format_timestamp(0, pattern)
    except ValueError as error:
        raise ValidationError(f"Invalid index pattern '{index}': {error}") from None
    return pattern


@dataclass(frozen=True)
class DocumentKey:
    """The id of a row's document.

    Args:
        columns: the programs that write the columns of the primary key, with their positions.
        delimiter: what stands between two.
    """

    columns: tuple[tuple[int, LogicalType, Program], ...]
    delimiter: str

    @classmethod
    def of(cls, context: TableContext, delimiter: str) -> DocumentKey | None:
        """Return the ids of a table's documents, or None for a table without a primary key.

        Raises:
            ValidationError: the key has a type that cannot be part of an id.
        """
        schema, names = context.schema.physical, context.schema.primary_key
        if not names:
            return None
        columns = [schema.names.index(name) for name in names]
        wrong = [
            schema.types[column] for column in columns if schema.types[column].root in _NO_KEYS
        ]
        if wrong:
            listed = ", ".join(str(kind) for kind in wrong)
            raise ValidationError(
                f"The table has a primary key on columns of illegal types: [{listed}]."
            )
        found = []
        for column in columns:
            written = Conversion(logical.STRING, InputRef(schema.types[column], column))
            program = compile_value(written, len(schema), context.time_zone)
            found.append((column, schema.types[column], program))
        return cls(tuple(found), delimiter)

    def load(self) -> Callable[[Any], str]:
        """Return the function of a row."""
        writers = [_key_writer(*column) for column in self.columns]
        delimiter = self.delimiter
        return lambda row: delimiter.join([write(row) for write in writers])


def _key_writer(column: int, kind: LogicalType, program: Program) -> Callable[[Any], str]:
    root = kind.root
    if root is Root.DATE:
        return lambda row: date_text(row[column])
    if root is Root.TIME:
        return lambda row: _java_time(time_text(row[column], 6))
    if root in logical.TIMESTAMPS:
        return lambda row: _java_time(timestamp_text(row[column], 6, "T"))
    write = program.load(None).function
    if root is Root.BOOLEAN:
        return lambda row: str(write(row)).lower()
    return lambda row: str(write(row))


def _java_time(written: str) -> str:
    """The text as Java has it: without seconds that are 0, in groups of three digits."""
    whole, fraction = written.split(".")
    if fraction == "000000":
        return whole.removesuffix(":00") if whole.count(":") > 1 else whole
    return f"{whole}.{fraction.removesuffix('000')}"


class EncodeDocuments(Operator):
    """Makes actions of rows.

    Args:
        encoder: writes documents.
        index: the index of a row.
        key: the ids of documents, or None.
        kind: the type of documents, or None.
        changelog: whether elements are pairs of the kind and the row.
        checked: whether the encoder may write something other than a JSON object in a line.
    """

    emits_immutable = True

    def __init__(
        self,
        encoder: Encoder,
        index: IndexName,
        key: DocumentKey | None,
        kind: str | None,
        *,
        changelog: bool,
        checked: bool,
    ) -> None:
        self._encoder, self._index, self._key = encoder, index, key
        self._kind, self._changelog, self._checked = kind, changelog, checked

    def open(self, context: OperatorContext) -> None:
        """Load the format."""
        self._encode = self._encoder.load()
        self._index_of = self._index.load(context.clock.now)
        self._key_of: Callable[[Any], str | None] = (
            (lambda row: None) if self._key is None else self._key.load()
        )

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the actions."""
        index_of, key_of, kind_of_document = self._index_of, self._key_of, self._kind
        pairs = elements if self._changelog else zip(repeat(INSERT), elements)
        if self._changelog:
            pairs = without_replaced(pairs, key_of)
        kept, encoded = tee(pairs)
        documents = self._encode(row for _, row in encoded)
        for (kind, row), document in zip(kept, documents):
            if kind in {DELETE, UPDATE_BEFORE}:
                yield Action(index_of(row), key_of(row), None, kind_of_document)
                continue
            written = document.encode() if isinstance(document, str) else document
            if self._checked:
                written = _in_one_line(written)
            yield Action(index_of(row), key_of(row), written, kind_of_document)


def _in_one_line(document: bytes) -> bytes:
    """Return a document that can stand in a bulk request, whose lines are separate actions.

    Raises:
        ValueError: it is no JSON object.
    """
    try:
        found = json.loads(document.decode(), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{_NO_DOCUMENT}: {error}") from None
    if not isinstance(found, dict):
        raise ValueError(f"{_NO_DOCUMENT}, but JSON of another kind")
    # Within a text of JSON there are no line breaks.
    return document.replace(b"\n", b" ").replace(b"\r", b" ")


_NO_DOCUMENT = "a document for Elasticsearch is a JSON object, and the table's format wrote none"


def _refuse(name: str) -> None:
    raise ValueError(f"JSON has no number {name}")


class ElasticsearchFactory(TableFactory):
    """Makes tables whose rows become documents."""

    options = EVERY
    has_kinds = False

    def sink(self, context: TableContext) -> TableSink:
        """Return a table to be written."""
        options, schema = context.options, context.schema.physical
        options.note((REQUEST_TIMEOUT,))
        kind = options[KIND] if self.has_kinds else None
        index = options[INDEX]
        if not index:
            raise ValidationError(f"'{INDEX.key}' must not be empty")
        found, own = find_format(options.with_default(FORMAT.key, "json"), FORMAT.key)
        encoder = found.encoder(schema, own, context.time_zone)
        if encoder.accepts is not ChangeKinds.INSERT:
            raise ValidationError(
                f"The format '{found.identifier}' writes kinds of changes. Documents need a format "
                "of rows, such as 'json'."
            )
        return _DocumentTable(
            _config(options),
            encoder,
            IndexName.parse(index, schema, context.time_zone),
            DocumentKey.of(context, options[DELIMITER] or ""),
            kind,
            options[PARALLELISM],
            checked=found.identifier != "json",
        )


class Elasticsearch6Factory(ElasticsearchFactory):
    """Elasticsearch 6, whose documents have types."""

    identifier = "elasticsearch-6"
    options = (KIND, *EVERY)
    has_kinds = True


class Elasticsearch7Factory(ElasticsearchFactory):
    """Elasticsearch 7."""

    identifier = "elasticsearch-7"


class Elasticsearch8Factory(ElasticsearchFactory):
    """Elasticsearch 8."""

    identifier = "elasticsearch-8"


class OpenSearchFactory(ElasticsearchFactory):
    """OpenSearch 1."""

    identifier = "opensearch"


class OpenSearch2Factory(ElasticsearchFactory):
    """OpenSearch 2 and later."""

    identifier = "opensearch-2"


class _DocumentTable(TableSink):
    needs_update_before = False
    takes_what_comes = True

    def __init__(
        self,
        config: DocumentSinkConfig,
        encoder: Encoder,
        index: IndexName,
        key: DocumentKey | None,
        kind: str | None,
        parallelism: int | None,
        *,
        checked: bool,
    ) -> None:
        self._config, self._encoder, self._index, self._key = config, encoder, index, key
        self._kind, self._parallelism, self._checked = kind, parallelism, checked
        self.accepts = ChangeKinds.INSERT if key is None else ChangeKinds.ALL

    def writing(self, schema: Schema, changelog: bool) -> Writing:
        if changelog and self._index.now:
            raise ValidationError(
                "An index named by the clock is for rows that are only added: an update could not "
                "find the document that it replaces."
            )
        encode = EncodeDocuments(
            self._encoder,
            self._index,
            self._key,
            self._kind,
            changelog=changelog,
            checked=self._checked,
        )
        return Writing(DocumentSink(self._config), encode, self._parallelism)


def _config(options: TableOptions) -> DocumentSinkConfig:
    username, password = options[USERNAME], options[PASSWORD]
    if (username is None) != (password is None):
        raise ValidationError(
            f"'{USERNAME.key}' and '{PASSWORD.key}' must be set at the same time."
        )
    actions, interval, retries = options[ACTIONS], options[INTERVAL], options[RETRIES]
    for option, value in ((ACTIONS, actions), (RETRIES, retries)):
        if value is not None and value < 0:
            raise ValidationError(f"'{option.key}' must be at least 0. Got: {value}")
    size = options[SIZE] or 0
    if size % _MEGABYTE:
        raise ValidationError(f"'{SIZE.key}' must be in MB granularity. Got: {size} bytes")
    cluster = SearchCluster(
        _hosts(options[HOSTS]),
        username,
        password,
        options[PREFIX],
        options[CONNECT_TIMEOUT] or 0,
        options[SOCKET_TIMEOUT] or 0,
    )
    handler = options[FAILURES] or "fail"
    return DocumentSinkConfig(
        cluster,
        actions or -1,
        size or -1,
        interval or -1,
        _backoff(handler, options[GROWTH] or "none", retries or 0, options[DELAY] or 0),
        bool(options[FLUSHES]) and options[GUARANTEE] != "none",
        handler == "ignore",
    )


def _backoff(handler: str, growth: str, retries: int, delay: int) -> Backoff:
    if handler == "retry-rejected":
        return Backoff(Growth.EXPONENTIAL, None, delay)
    if handler not in {"fail", "ignore"}:
        raise_unsupported(
            f"'{FAILURES.key}' = '{handler}'",
            kind=Gap.NEVER,
            reason="there are no Java classes",
            instead="Use fail, ignore or retry-rejected.",
        )
    if growth in {"none", "disabled"}:
        return Backoff()
    return Backoff(Growth[growth.upper()], retries, delay)


def _hosts(written: str) -> tuple[SearchHost, ...]:
    found = []
    for each in written.split(";"):
        try:
            found.append(SearchHost.parse(each.strip(), complete=True))
        except ValueError as error:
            several = "; a semicolon is between two hosts" if "," in each else ""
            raise ValidationError(
                f"Could not parse host '{each}' in option '{HOSTS.key}': {error}{several}."
            ) from None
    return tuple(found)
