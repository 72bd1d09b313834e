"""The ways out for connectors, formats and catalogs of Flink that this package lacks."""

from __future__ import annotations

import re
from collections.abc import Iterable

_BY_SPARK = (
    "Read and write with Spark's connector {package}: extensions.from_spark and "
    "extensions.to_spark make a stream of a DataFrame and the reverse."
)
_BY_CLIENT = "Write in a function with the client library {library}, which retries by a key."
_BY_DEBEZIUM = (
    "Let Debezium write the changes to Kafka, and read them with 'connector' = 'kafka' and "
    "'format' = 'debezium-json'."
)
_BY_JDBC = "Use 'connector' = 'jdbc' if the database is SQLite, MySQL, MariaDB or PostgreSQL."

_CONNECTORS: tuple[tuple[str, str], ...] = (
    (
        r"(elasticsearch|opensearch)(-\d+)?",
        "Use 'connector' = 'elasticsearch-7' or 'opensearch', with the options hosts and index.",
    ),
    (r"mongodb", _BY_SPARK.format(package="org.mongodb.spark:mongo-spark-connector")),
    (r"hudi", _BY_SPARK.format(package="org.apache.hudi:hudi-spark-bundle")),
    (r"paimon|table-store", _BY_SPARK.format(package="org.apache.paimon:paimon-spark")),
    (r"delta", _BY_SPARK.format(package="io.delta:delta-spark")),
    (r"(hbase|phoenix)(-[\w.]+)?", _BY_SPARK.format(package="hbase-spark")),
    (r"doris", _BY_SPARK.format(package="org.apache.doris:spark-doris-connector")),
    (r"starrocks", _BY_SPARK.format(package="com.starrocks:starrocks-spark-connector")),
    (r"clickhouse", _BY_SPARK.format(package="com.clickhouse.spark:clickhouse-spark-runtime")),
    (r"pulsar|upsert-pulsar", _BY_SPARK.format(package="io.streamnative.connectors:pulsar-spark")),
    (r"redis", _BY_CLIENT.format(library="redis")),
    (
        r"aws-kinesis-firehose",
        "Use 'connector' = 'firehose' with 'delivery-stream'.",
    ),
    (r"dynamodb|sqs|cloudwatch", _BY_CLIENT.format(library="boto3")),
    (r"rabbitmq", "Use RMQSource and RMQSink of the DataStream API, and from_data_stream."),
    (r"mqtt\w*", "Read in an extensions source with the client library paho-mqtt."),
    (r"[\w-]+-cdc", _BY_DEBEZIUM),
    (r"socket", "Use a source of extensions, or kcat to bring the lines to Kafka."),
    (r"(sqlserver|oracle|derby|db2|oceanbase|tidb)", _BY_JDBC),
    (r"python-[\w-]+|range|collection|values", "Use from_elements, or 'connector' = 'datagen'."),
)
_CATALOGS: tuple[tuple[str, str], ...] = (
    (
        r"paimon|hudi|delta|fluss",
        "Give Spark the catalog (--conf spark.sql.catalog.NAME=...), and use from_spark, to_spark.",
    ),
    (r"[\w-]*", "Declare the tables with CREATE TABLE."),
)


def way_out_of_connector(identifier: str) -> str:
    """The way out for a connector that is not there, as a sentence.

    Args:
        identifier: the value of the option ``connector``.
    """
    found = _found(_CONNECTORS, identifier)
    return found or (
        "Read and write with any connector of Spark by extensions.from_spark and "
        "extensions.to_spark, or with a source or sink of your own."
    )


def way_out_of_format(identifier: str) -> str:
    """The way out for a format that is not there, as a sentence.

    Args:
        identifier: the value of the option ``format``.
    """
    return f"Use 'format' = 'raw' in place of '{identifier}', and decode the bytes in a function."


def way_out_of_catalog(kind: str) -> str:
    """The way out for a catalog of a kind that is not there, as a sentence.

    Args:
        kind: the value of the option ``type``.
    """
    return _found(_CATALOGS, kind) or ""


def _found(ways: Iterable[tuple[str, str]], identifier: str) -> str | None:
    return next((way for name, way in ways if re.fullmatch(name, identifier)), None)
