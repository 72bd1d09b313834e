"""Finds connectors by the option ``connector``, or by options of before Flink 1.11."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches

from pyflink_on_spark._compat.recorded import note_former
from pyflink_on_spark._options.secrets import HIDDEN, masked, masked_text
from pyflink_on_spark._sql.errors import ValidationError, did_you_mean
from pyflink_on_spark._sql.plan.options import CatalogTable, ObjectPath, Option, TableOptions, text
from pyflink_on_spark._sql.plan.ports import (
    TableContext,
    TableFactory,
    TableSink,
    TableSource,
)
from pyflink_on_spark._sql.tables.connectors.absent import way_out_of_connector

KIND = "connector.type"

_KAFKA = {
    "connector.topic": "topic",
    "connector.startup-mode": "scan.startup.mode",
    "connector.specific-offsets": "scan.startup.specific-offsets",
    "connector.startup-timestamp-millis": "scan.startup.timestamp-millis",
    "connector.sink-partitioner": "sink.partitioner",
}
_JDBC = {
    "connector.url": "url",
    "connector.table": "table-name",
    "connector.driver": "driver",
    "connector.username": "username",
    "connector.password": "password",
    "connector.read.partition.column": "scan.partition.column",
    "connector.read.partition.num": "scan.partition.num",
    "connector.read.partition.lower-bound": "scan.partition.lower-bound",
    "connector.read.partition.upper-bound": "scan.partition.upper-bound",
    "connector.read.fetch-size": "scan.fetch-size",
    "connector.lookup.cache.max-rows": "lookup.cache.max-rows",
    "connector.lookup.cache.ttl": "lookup.cache.ttl",
    "connector.lookup.max-retries": "lookup.max-retries",
    "connector.write.flush.max-rows": "sink.buffer-flush.max-rows",
    "connector.write.flush.interval": "sink.buffer-flush.interval",
    "connector.write.max-retries": "sink.max-retries",
}
_FILES = {
    "connector.path": "path",
    "connector.write-mode": "write-mode",
    "connector.num-files": "num-files",
    "format.field-delimiter": "field-delimiter",
    "format.line-delimiter": "line-delimiter",
    "format.quote-character": "quote-character",
    "format.comment-prefix": "comment-prefix",
    "format.ignore-first-line": "ignore-first-line",
    "format.ignore-parse-errors": "ignore-parse-errors",
    "format.empty-column-as-null": "empty-column-as-null",
}
_FORMATS = {
    "json": {"fail-on-missing-field", "ignore-parse-errors"},
    "csv": {
        "field-delimiter", "quote-character", "allow-comments", "ignore-parse-errors",
        "array-element-delimiter", "escape-character", "null-literal", "disable-quote-character",
    },
    "avro": set(),
}  # fmt: skip
# What the columns of the table say, and what has no meaning any more.
_WITHOUT_MEANING = re.compile(
    r"connector\.(type|version|property-version)|format\.(type|property-version|derive-schema|"
    r"schema|json-schema|avro-schema|fields\..*)|update-mode|"
    r"connector\.properties\.(\d+\.(key|value)|zookeeper\.connect)"
)
_NUMBERED = re.compile(r"connector\.properties\.(\d+)\.key")
_PROPERTY = "connector.properties."


def present_options(given: Mapping[str, str]) -> dict[str, str]:
    """Return the options that stand for those of before Flink 1.11.

    Args:
        given: options with a ``connector.type``.

    Raises:
        ValidationError: there is no such connector or format, or an option is unknown.
    """
    kind = given[KIND]
    translated = FORMER_CONNECTORS.get(kind)
    if translated is None:
        raise ValidationError(
            f"'{KIND}' = '{kind}' is no connector of pyflink_on_spark. Known ones are filesystem, "
            f"jdbc and kafka. {way_out_of_connector(kind)}"
        )
    return translated(given)


def _of_jdbc(given: Mapping[str, str]) -> dict[str, str]:
    return _checked(given, {"connector": "jdbc"}, _JDBC)


def _of_kafka(given: Mapping[str, str]) -> dict[str, str]:
    form = given.get("format.type")
    if form not in _FORMATS:
        raise ValidationError(f"'format.type' of kafka has to be avro, csv or json, not {form!r}")
    known = dict(_KAFKA)
    known.update({f"format.{key}": f"{form}.{key}" for key in _FORMATS[form]})
    found = {"connector": "kafka", "format": form, **dict(_properties(given))}
    return _checked(given, found, known)


def _properties(given: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the properties of Kafka's clients, in either of the two forms that they have."""
    for key, value in given.items():
        numbered = _NUMBERED.fullmatch(key)
        if numbered:
            key = _PROPERTY + value
            value = given[f"{_PROPERTY}{numbered[1]}.value"]
        elif not key.startswith(_PROPERTY) or re.match(r"\d+\.value", key[len(_PROPERTY) :]):
            continue
        name = key.removeprefix(_PROPERTY)
        if name != "zookeeper.connect":
            yield f"properties.{name}", value


def _of_files(given: Mapping[str, str]) -> dict[str, str]:
    form = given.get("format.type")
    if form != "csv":
        raise ValidationError(
            f"'{KIND}' = 'filesystem' reads and writes CSV only, as in Flink, not {form!r}. Use "
            "'connector' = 'filesystem' with that format."
        )
    return _checked(given, {"connector": "former-csv"}, _FILES)


def _checked(
    given: Mapping[str, str], found: dict[str, str], known: Mapping[str, str]
) -> dict[str, str]:
    """Return options with those that are known; refuse others."""
    unknown = []
    for key, value in given.items():
        if key in known:
            found[known[key]] = value
        elif not (_WITHOUT_MEANING.fullmatch(key) or key.startswith(_PROPERTY)):
            unknown.append(key)
    if unknown:
        raise ValidationError(
            f"Unsupported options of '{KIND}' = '{given[KIND]}':\n\n" + "\n".join(sorted(unknown))
        )
    return found


FORMER_CONNECTORS: dict[str, Callable[[Mapping[str, str]], dict[str, str]]] = {
    "filesystem": _of_files,
    "jdbc": _of_jdbc,
    "kafka": _of_kafka,
}
"""The values of ``connector.type``, and what translates the options of each."""


_PACKAGE = "pyflink_on_spark._sql.tables.connectors"
_CONNECTOR = Option("connector", text, required=True)

CONNECTORS: dict[str, str] = {
    "blackhole": "printing:BlackholeFactory",
    "datagen": "datagen:DatagenFactory",
    "elasticsearch-6": "elasticsearch:Elasticsearch6Factory",
    "elasticsearch-7": "elasticsearch:Elasticsearch7Factory",
    "elasticsearch-8": "elasticsearch:Elasticsearch8Factory",
    "faker": "faker_rows:FakerFactory",
    "filesystem": "filesystem.factory:FilesystemFactory",
    "firehose": "kinesis:FirehoseFactory",
    "hive": "hive:HiveFactory",
    "iceberg": "iceberg:IcebergFactory",
    "jdbc": "jdbc:JdbcFactory",
    "kafka": "kafka:KafkaFactory",
    "kinesis": "kinesis:KinesisFactory",
    "kinesis-legacy": "kinesis:LegacyKinesisFactory",
    "mysql-cdc": "change_capture:MySqlCaptureFactory",
    "opensearch": "elasticsearch:OpenSearchFactory",
    "opensearch-2": "elasticsearch:OpenSearch2Factory",
    "postgres-cdc": "change_capture:PostgreSqlCaptureFactory",
    "print": "printing:PrintFactory",
    "upsert-kafka": "kafka:UpsertKafkaFactory",
}
"""The module below this package, and the factory in it, for each connector."""

_FORMER = {"former-csv": "former_csv:FormerCsvFactory"}
"""Those that only options of before Flink 1.11 lead to."""


def table_source(context: TableContext) -> TableSource:
    """Return the table that a query reads.

    Raises:
        ValidationError: there is no such connector, or it refuses the options.
    """
    try:
        context = _with_present_options(context)
        factory = _factory(context.options)
        source = factory.source(context)
        _check_options(factory, context.options)
    except ValidationError as error:
        raise ValidationError(
            f"Unable to create a source for reading table '{context.path}'.\n\n"
            f"{_without_secrets(error.message, context.options)}{_listed(context.options)}"
        ) from None
    return source


def table_sink(context: TableContext) -> TableSink:
    """Return the table that a query writes.

    Raises:
        ValidationError: there is no such connector, or it refuses the options.
    """
    try:
        context = _with_present_options(context)
        factory = _factory(context.options)
        sink = None
        if factory.overwrites or not context.overwrite:
            sink = factory.sink(context)
            _check_options(factory, context.options)
    except ValidationError as error:
        raise ValidationError(
            f"Unable to create a sink for writing table '{context.path}'.\n\n"
            f"{_without_secrets(error.message, context.options)}{_listed(context.options)}"
        ) from None
    if sink is None:
        raise ValidationError(
            "INSERT OVERWRITE requires that the underlying DynamicTableSink of table "
            f"'{context.path}' implements the SupportsOverwrite interface."
        )
    return sink


def table_context(
    path: ObjectPath,
    table: CatalogTable,
    configuration: Mapping[str, str],
    time_zone: str,
    *,
    batch: bool,
) -> TableContext:
    """Return the context of a table for its connector."""
    return TableContext(
        path,
        table.schema,
        TableOptions(table.options),
        table.partition_by,
        configuration,
        time_zone,
        batch,
    )


def with_hints(context: TableContext, hints: Mapping[str, str]) -> TableContext:
    """Return the same with the options that a query gives for itself."""
    if not hints:
        return context
    return replace(context, options=TableOptions({**context.options.given, **hints}))


def _with_present_options(context: TableContext) -> TableContext:
    """Return the same with today's options in place of those of before Flink 1.11."""
    given = context.options.given
    if KIND not in given or _CONNECTOR.key in given:
        return context
    note_former(f"'{KIND}' = '{given[KIND]}'", "use 'connector' = '...' and its options")
    return replace(context, options=TableOptions(present_options(given)))


def _factory(options: TableOptions) -> TableFactory:
    if not options.has(_CONNECTOR):
        raise ValidationError(
            "Table options do not contain an option key 'connector' for discovering a connector. "
            "Therefore, Flink assumes a managed table. Please notice that managed table is not "
            "supported"
        )
    identifier = options[_CONNECTOR]
    found = CONNECTORS.get(identifier) or _FORMER.get(identifier)
    if found is None:
        similar = did_you_mean(identifier, CONNECTORS)
        way_out = "" if similar else f"\n\n{way_out_of_connector(identifier)}"
        raise ValidationError(
            f"Could not find any factory for identifier '{identifier}'{similar or '.'} "
            "Available factory identifiers are:\n\n" + "\n".join(sorted(CONNECTORS)) + way_out
        )
    module, _, name = found.partition(":")
    factory: TableFactory = getattr(importlib.import_module(f"{_PACKAGE}.{module}"), name)()
    options.require(factory.options)
    return factory


def _check_options(factory: TableFactory, options: TableOptions) -> None:
    options.check_all_used(factory.identifier, (option.key for option in factory.options))


def _without_secrets(message: str, options: TableOptions) -> str:
    for key, value in options.given.items():
        if masked(key, value) == HIDDEN:
            message = message.replace(f"'{value}'", f"'{HIDDEN}'")
    return masked_text(message)


def _listed(options: TableOptions) -> str:
    listed = "\n".join(
        f"'{key}'='{HIDDEN if _resembles_a_secret(key) else masked(key, value)}'"
        for key, value in sorted(options.given.items())
    )
    return f"\n\nTable options are:\n\n{listed}"


def _resembles_a_secret(key: str) -> bool:
    """True for the key of a secret with a mistake in it, which no option has."""
    return bool(get_close_matches(key.lower(), _SECRETS, 1, 0.8))


_SECRETS = ("password", "secret", "token", "passphrase")
