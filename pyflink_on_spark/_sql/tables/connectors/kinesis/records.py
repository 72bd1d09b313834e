"""Kinesis's records, as operators of tables take and make them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._sql.codegen.program import Program
from pyflink_on_spark._sql.tables.formats.format import Encode, Encoder
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark.common import Types

if TYPE_CHECKING:
    from pyflink_on_spark._connectors.kinesis.config import ShardRecord
    from pyflink_on_spark.common import TypeInformation

_MICROS_PER_MILLI = 1000
_ID = logical.varchar(128).with_nullable(False)

METADATA = {
    "timestamp": logical.timestamp_ltz(3).with_nullable(False),
    "shard-id": _ID,
    "sequence-number": _ID,
}
"""The metadata of a record, and their types."""

_READERS: dict[str, Callable[[ShardRecord], Any]] = {
    "timestamp": lambda record: record.arrived * _MICROS_PER_MILLI,
    "shard-id": lambda record: record.shard,
    "sequence-number": lambda record: record.sequence_number,
}


@dataclass(frozen=True)
class DataReader:
    """Passes on the data of a record."""

    def _deserializer(self) -> Callable[[Any], Any]:
        return lambda data: data

    def _produced_type(self) -> TypeInformation:
        return Types.PICKLED_BYTE_ARRAY()


@dataclass(frozen=True)
class RecordReader(DataReader):
    """Makes of a record no key, its data and some metadata.

    Args:
        metadata: the keys of the metadata.
    """

    metadata: tuple[str, ...]

    def _deserializer(self) -> Callable[[Any], Any]:
        readers = [_READERS[key] for key in self.metadata]
        return lambda record: (None, record.data, tuple([each(record) for each in readers]))


@dataclass(frozen=True)
class DataWriter:
    """Takes the data of what ``EncodeRecords`` gives."""

    def _serializer(self) -> Callable[[Any], Any]:
        return lambda element: element[1]


@dataclass(frozen=True)
class PartitionKey(Encoder):
    """Writes the values of columns as a partition key.

    Args:
        columns: what writes each as text.
        delimiter: what stands between two.
    """

    columns: tuple[Program, ...]
    delimiter: str

    def load(self) -> Encode:
        """Compile what writes the columns."""
        writers = [program.load(None).function for program in self.columns]
        delimiter = self.delimiter

        def encode(rows: Iterator[Any]) -> Iterator[str]:
            for row in rows:
                yield delimiter.join([str(write(row)) for write in writers])

        return encode
