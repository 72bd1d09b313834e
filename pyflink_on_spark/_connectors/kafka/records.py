"""The conversion of elements to Kafka records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from pyflink_on_spark._connectors.formats.written_types import check_written
from pyflink_on_spark._runtime.contract.connector import LargeCommittable, unpack
from pyflink_on_spark._runtime.user_code import UserFunction

if TYPE_CHECKING:
    from pyflink_on_spark.common.typeinfo import TypeInformation


Record = tuple[str, bytes | None, bytes | None, int]
"""Topic, key, value, and timestamp in ms; a timestamp of 0 stands for the time of writing."""


class RecordMaker(Protocol):
    """Makes records of elements. Picklable."""

    def check_input(self, type_info: TypeInformation | None) -> None:
        """Raise TypeError if no records can be made of the elements of a stream."""
        ...

    def serializer(self) -> Callable[[object, int | None], Record]:
        """Return a function that makes a record of an element and its timestamp."""
        ...


@dataclass(frozen=True)
class RecordFormat:
    """The format of records.

    Args:
        topic: the topic of all records. None: each element is a row of a topic and the value.
        key: the serialization schema of the keys, or None for records without keys.
        value: the serialization schema of the values.
        timestamped: whether records get the timestamps of their elements.
    """

    topic: str | None
    key: UserFunction | None
    value: UserFunction
    timestamped: bool = True

    def check_input(self, type_info: Any) -> None:
        """Raise TypeError if the schemas cannot serialize the elements of a stream."""
        if self.topic is None:
            type_info = type_info.get_field_types()[1]
        for schema in (self.key, self.value):
            if schema is not None:
                check_written(schema.load(), type_info)

    def serializer(self) -> Callable[[Any, int | None], Record]:
        """Return a function that makes a record of an element and its timestamp."""
        topic, timestamped = self.topic, self.timestamped
        to_value = self.value.load()._serializer()
        to_key = None if self.key is None else self.key.load()._serializer()

        def make(element: Any, timestamp: int | None) -> Record:
            target: Any = topic
            if target is None:
                target, element = element[0], element[1]
            key = None if to_key is None else to_key(element)
            written = timestamp if timestamped and timestamp is not None and timestamp > 0 else 0
            return target, key, to_value(element), written

        return make


@dataclass(frozen=True)
class TransactionBatch(LargeCommittable):
    """The records that one subtask writes with one checkpoint: the committable of the sink.

    The frames contain the records in order.

    Args:
        run: identifies the sink and the attempt of the job that made the records.
        checkpoint: the checkpoint that the records belong to, or an earlier one.
        transactional_id: the id under which to write the records, whatever the id of the sink that
            commits them.
        topic: the first topic of the records, by name.
    """

    run: str
    checkpoint: int
    transactional_id: str
    topic: str

    def records(self) -> Iterator[Record]:
        """Yield the records in order."""
        for frame in self.frames:
            yield from unpack(frame)
