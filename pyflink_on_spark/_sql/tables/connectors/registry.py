"""Finds connectors by the option ``connector``."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
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
from pyflink_on_spark._sql.tables.connectors.former_options import KIND, present_options

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
    "firehose": "firehose:FirehoseFactory",
    "hive": "hive:HiveFactory",
    "iceberg": "iceberg.factory:IcebergFactory",
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
