"""The options of Kinesis's tables, as properties of the client.

There are two generations. A table with ``stream.arn`` has the options of Flink's current connector,
a table with ``stream`` those of the connector before, which many scripts still use.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from pyflink_on_spark._connectors.kinesis.config import Batching, PartitionKeys
from pyflink_on_spark._connectors.kinesis.shards import start_of
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.plan.options import (
    Option,
    TableOptions,
    boolean,
    duration,
    integer,
    one_of,
    text,
)

_PARTITIONERS = {"random": PartitionKeys.RANDOM, "fixed": PartitionKeys.FIXED}
_ARN = re.compile(r"arn:[^:]+:kinesis:(?P<region>[^:]+):\d*:stream/(?P<stream>.+)")


def _word_of_aws(*values: str) -> Callable[[str], str]:
    """Read one of some words, in any case; AWS writes them in capitals."""
    read = one_of(*(value.lower() for value in values))
    return lambda value: read(value).upper()


_position = _word_of_aws("LATEST", "TRIM_HORIZON", "AT_TIMESTAMP")
_reader = _word_of_aws("POLLING", "EFO")

ARN = Option("stream.arn", text)
STREAM = Option("stream", text)
FORMAT = Option("format", text, required=True)
REGION = Option("aws.region", text)
ENDPOINT = Option("aws.endpoint", text)
TRUSTS_ALL = Option("aws.trust.all.certificates", boolean)
POSITION = Option("source.init.position", _position, default="LATEST")
TIMESTAMP = Option("source.init.timestamp", text)
TIMESTAMP_FORMAT = Option("source.init.timestamp.format", text)
READER = Option("source.reader.type", _reader, default="POLLING")
DISCOVERY = Option("source.shard.discovery.interval", duration, default=10_000)
MOST_RECORDS = Option("source.shard.get-records.max-record-count", integer, default=10_000)
OLD_POSITION = Option("scan.stream.initpos", _position, default="LATEST")
OLD_TIMESTAMP = Option("scan.stream.initpos-timestamp", text)
OLD_TIMESTAMP_FORMAT = Option("scan.stream.initpos-timestamp-format", text)
OLD_READER = Option("scan.stream.recordpublisher", _reader, default="POLLING")
OLD_DISCOVERY = Option("scan.shard.discovery.intervalmillis", integer, default=10_000)
OLD_MOST_RECORDS = Option("scan.shard.getrecords.maxrecordcount", integer, default=10_000)
OLD_INTERVAL = Option("scan.shard.getrecords.intervalmillis", integer, default=200)
PARTITIONER = Option("sink.partitioner", one_of(*_PARTITIONERS))
DELIMITER = Option("sink.partitioner-field-delimiter", text, default="|")
BATCH_ELEMENTS = Option("sink.batch.max-size", integer, default=500)
IN_FLIGHT = Option("sink.requests.max-inflight", integer, default=50)
BUFFERED = Option("sink.requests.max-buffered", integer, default=10_000)
BATCH_BYTES = Option("sink.flush-buffer.size", integer, default=5 * 1024 * 1024)
BATCH_TIME = Option("sink.flush-buffer.timeout", integer, default=5000)
FAILS = Option("sink.fail-on-error", boolean, default=False)

_OF_CLIENT = (REGION, ENDPOINT, TRUSTS_ALL)
_READING: tuple[Option[Any], ...] = (
    POSITION, TIMESTAMP, TIMESTAMP_FORMAT, READER, DISCOVERY, MOST_RECORDS,
)  # fmt: skip
_OLD_READING: tuple[Option[Any], ...] = (
    OLD_POSITION, OLD_TIMESTAMP, OLD_TIMESTAMP_FORMAT, OLD_READER, OLD_DISCOVERY, OLD_MOST_RECORDS,
    OLD_INTERVAL,
)  # fmt: skip
_WRITING = (PARTITIONER, DELIMITER, BATCH_ELEMENTS, IN_FLIGHT, BUFFERED, BATCH_BYTES, BATCH_TIME,
            FAILS)  # fmt: skip
EVERY: tuple[Option[Any], ...] = (
    ARN, STREAM, FORMAT, *_OF_CLIENT, *_READING, *_OLD_READING, *_WRITING,
)  # fmt: skip
"""All options, in the order of the documents."""

_PROPERTIES: dict[str, str] = {
    POSITION.key: "flink.stream.initpos",
    TIMESTAMP.key: "flink.stream.initpos.timestamp",
    TIMESTAMP_FORMAT.key: "flink.stream.initpos.timestamp.format",
    READER.key: "flink.stream.recordpublisher",
    DISCOVERY.key: "flink.shard.discovery.intervalmillis",
    MOST_RECORDS.key: "flink.shard.getrecords.maxrecordcount",
    OLD_POSITION.key: "flink.stream.initpos",
    OLD_TIMESTAMP.key: "flink.stream.initpos.timestamp",
    OLD_TIMESTAMP_FORMAT.key: "flink.stream.initpos.timestamp.format",
    OLD_READER.key: "flink.stream.recordpublisher",
    OLD_DISCOVERY.key: "flink.shard.discovery.intervalmillis",
    OLD_MOST_RECORDS.key: "flink.shard.getrecords.maxrecordcount",
    OLD_INTERVAL.key: "flink.shard.getrecords.intervalmillis",
}
_CREDENTIALS, _PROVIDER = "credentials.", "credentials.provider"


def stream_name(options: TableOptions) -> str:
    """Return the name of the table's stream.

    Raises:
        ValidationError: neither the stream nor its ARN is given, or both, or it is no ARN.
    """
    arn, name = options[ARN], options[STREAM]
    if arn is not None and name is not None:
        raise ValidationError(
            f"'{ARN.key}' and '{STREAM.key}' cannot be set together: an ARN names the stream."
        )
    if name is not None:
        return name
    if arn is None:
        raise ValidationError(
            "One or more required options are missing.\n\nMissing required options are:\n\n"
            f"{ARN.key}"
        )
    return _parsed(arn)["stream"]


def client_properties(options: TableOptions) -> dict[str, str]:
    """Return the properties of AWS's client; the region is the ARN's if there is no other."""
    options.note(_OF_CLIENT)
    found = {}
    for key, value in options.beginning_with("aws.").items():
        # Tables leave out a part of the names that properties have.
        short = key.startswith(_CREDENTIALS) and not key.startswith(_PROVIDER)
        name = f"{_PROVIDER}.{key.removeprefix(_CREDENTIALS)}" if short else key
        found[f"aws.{name}"] = value
    arn = options[ARN]
    if arn is not None:
        found.setdefault(REGION.key, _parsed(arn)["region"])
    return found


def source_properties(options: TableOptions) -> dict[str, str]:
    """Return the properties of the client and of a source.

    Raises:
        ValidationError: the time at which reading begins is missing or wrong.
    """
    options.note(_WRITING)
    own, begin = (_READING, TIMESTAMP) if options.has(ARN) else (_OLD_READING, OLD_TIMESTAMP)
    found = {_PROPERTIES[each.key]: str(options[each]) for each in own if options.has(each)}
    try:
        start_of(found)
    except ValueError as error:
        raise ValidationError(str(error).replace(_PROPERTIES[begin.key], begin.key)) from None
    return client_properties(options) | found


def batching(options: TableOptions) -> Batching:
    """Return when a sink sends its records.

    Raises:
        ValidationError: the numbers contradict each other.
    """
    found = Batching(
        elements=_number(options, BATCH_ELEMENTS),
        in_bytes=_number(options, BATCH_BYTES),
        milliseconds=_number(options, BATCH_TIME),
        requests_in_flight=_number(options, IN_FLIGHT),
        buffered=_number(options, BUFFERED),
    )
    try:
        found.check()
    except ValueError as error:
        raise ValidationError(str(error)) from None
    return found


def partition_keys(options: TableOptions, partition_by: tuple[str, ...]) -> PartitionKeys:
    """Return what the partition keys of records are.

    Raises:
        ValidationError: there is a partitioner beside PARTITIONED BY.
    """
    options.note(_READING if options.has(ARN) else _OLD_READING)
    word = options[PARTITIONER]
    if not partition_by:
        return _PARTITIONERS[word or "random"]
    if word is not None:
        raise ValidationError(
            f"'{PARTITIONER.key}' cannot be set for a table with PARTITIONED BY: the values of "
            f"the columns {', '.join(partition_by)} are the partition key."
        )
    return PartitionKeys.OWN


def _number(options: TableOptions, option: Option[int]) -> int:
    value = options[option]
    assert value is not None
    return value


def _parsed(arn: str) -> re.Match[str]:
    found = _ARN.fullmatch(arn)
    if found is None:
        raise ValidationError(
            f"Invalid value for option '{ARN.key}': '{arn}': it is no ARN of a Kinesis stream, as "
            "arn:aws:kinesis:us-east-1:123456789012:stream/orders"
        )
    return found
