"""Kafka's records, as operators of tables take and make them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._sql.types import logical

if TYPE_CHECKING:
    from pyflink_on_spark._connectors.kafka.records import Record

_MICROS_PER_MILLI = 1000
_KINDS_OF_TIMESTAMPS = ("NoTimestampType", "CreateTime", "LogAppendTime")

METADATA = {
    "topic": logical.STRING.with_nullable(False),
    "partition": logical.INT.with_nullable(False),
    "headers": logical.mapping(
        logical.STRING.with_nullable(False), logical.BYTES.with_nullable(False)
    ).with_nullable(False),
    "leader-epoch": logical.INT,
    "offset": logical.BIGINT.with_nullable(False),
    "timestamp": replace(logical.timestamp_ltz(3), nullable=False),
    "timestamp-type": logical.STRING.with_nullable(False),
}
"""The metadata of a record, and their types."""

_READERS: dict[str, Callable[[Any], Any]] = {
    "topic": lambda record: record.topic(),
    "partition": lambda record: record.partition(),
    "headers": lambda record: dict(record.headers() or ()),
    "leader-epoch": lambda record: record.leader_epoch(),
    "offset": lambda record: record.offset(),
    "timestamp": lambda record: record.timestamp()[1] * _MICROS_PER_MILLI,
    "timestamp-type": lambda record: _KINDS_OF_TIMESTAMPS[record.timestamp()[0]],
}


@dataclass(frozen=True)
class RecordReader:
    """Makes of a record of Kafka's client its key, its value and some metadata.

    Args:
        metadata: the keys of the metadata.
    """

    metadata: tuple[str, ...] = ()

    def _deserializer(self) -> Callable[[Any], Any]:
        readers = [_READERS[key] for key in self.metadata]

        def read(record: Any) -> Any:
            return record.key(), record.value(), tuple([each(record) for each in readers])

        return read


@dataclass(frozen=True)
class ValueReader:
    """Makes of the value of a record the value itself."""

    def _deserializer(self) -> Callable[[Any], Any]:
        return lambda value: value


@dataclass(frozen=True)
class RowRecords:
    """Makes records of what ``EncodeRecords`` gives.

    Args:
        topic: where they are written.
    """

    topic: str

    def check_input(self, type_info: Any) -> None:
        """Do nothing: the table has checked the columns."""

    def serializer(self) -> Callable[[Any, int | None], Record]:
        """Return a function that makes a record of an element and its timestamp."""
        topic = self.topic
        return lambda element, timestamp: (topic, *element)
