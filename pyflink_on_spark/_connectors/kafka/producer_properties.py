"""What Kafka's Java producer does by default, and librdkafka's does not."""

from __future__ import annotations

from collections.abc import Mapping

from pyflink_on_spark._connectors.kafka.client import Note, check_properties, not_noted
from pyflink_on_spark._connectors.kafka.properties import client_properties

_IDEMPOTENCE = "enable.idempotence"
# The second name of each pair is librdkafka's own.
_ACKNOWLEDGEMENTS = ("acks", "request.required.acks")
_RETRIES = ("retries", "message.send.max.retries")
_IN_FLIGHT = ("max.in.flight.requests.per.connection", "max.in.flight")
_MOST_IN_FLIGHT = 5


def producer_properties(properties: Mapping[str, str], note: Note = not_noted) -> dict[str, str]:
    """Return properties for a producer of librdkafka.

    Records are written once and in order, as with Java's producer, unless they say otherwise.

    Args:
        properties: of Kafka's Java producer.
        note: is told the name of each property that has no meaning here.

    Raises:
        ValueError: one names something that only a JVM can read; says what to do.
    """
    wanted = client_properties(properties, note)
    wanted.setdefault("partitioner", "murmur2_random")
    if _IDEMPOTENCE not in wanted and not _conflicts(wanted):
        wanted[_IDEMPOTENCE] = "true"
    if _value(wanted, _IN_FLIGHT) is None:
        wanted[_IN_FLIGHT[0]] = str(_MOST_IN_FLIGHT)
    return wanted


def check_producer_properties(properties: Mapping[str, str], note: Note) -> None:
    """Tell, without a cluster, of properties that have no meaning here.

    Raises:
        ValueError: librdkafka refuses a value, or one names something that only a JVM can read.
    """
    check_properties("Producer", producer_properties(properties, note), note)


def _conflicts(wanted: Mapping[str, str]) -> bool:
    """Tell whether something was asked for that idempotence rules out."""
    if _value(wanted, _ACKNOWLEDGEMENTS) not in {None, "all", "-1"}:
        return True
    if _value(wanted, _RETRIES) == "0":
        return True
    in_flight = _value(wanted, _IN_FLIGHT)
    return in_flight is not None and in_flight.isdigit() and int(in_flight) > _MOST_IN_FLIGHT


def _value(wanted: Mapping[str, str], names: tuple[str, ...]) -> str | None:
    found = [wanted[name].strip().lower() for name in names if name in wanted]
    return found[-1] if found else None
