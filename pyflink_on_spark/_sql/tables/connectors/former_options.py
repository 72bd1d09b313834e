"""Options of tables as Flink has them before 1.11: ``connector.type``, ``format.type``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from pyflink_on_spark._sql.errors import ValidationError
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
