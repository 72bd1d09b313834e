"""How elements become Kafka records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pyflink_on_spark._connectors.formats.written_types import check_written
from pyflink_on_spark._runtime.user_code.user_function import UserFunction

Record = tuple[str, bytes | None, bytes | None, int]
"""Topic, key, value, and timestamp in ms; 0 for the time at which it is written."""


@dataclass(frozen=True)
class RecordRule:
    """How records are made.

    Args:
        topic: where all go; None: each element is a row of its topic and itself.
        key: a serialization schema, or None for records without keys.
        value: a serialization schema.
        timestamped: whether records get the elements' timestamps.
    """

    topic: str | None
    key: UserFunction | None
    value: UserFunction
    timestamped: bool = True

    def check_input(self, type_info: Any) -> None:
        """Raise TypeError if keys and values cannot be made of a stream's elements."""
        if self.topic is None:  # a row of the topic and the element
            type_info = type_info.get_field_types()[1]
        for schema in (self.key, self.value):
            if schema is not None:
                check_written(schema.load(), type_info)

    def maker(self) -> Callable[[Any, int | None], Record]:
        """Return what makes a record of an element and its timestamp."""
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
