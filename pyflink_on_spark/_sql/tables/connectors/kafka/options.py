"""The options of Kafka's tables, and what they say of a topic."""

from __future__ import annotations

from typing import Literal

from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._connectors.kafka.config import (
    Guarantee,
    OffsetRule,
    Partition,
    Reset,
    Subscription,
)
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.plan.options import (
    Option,
    TableOptions,
    duration,
    integer,
    one_of,
    text,
)

_MODES = ("earliest-offset", "latest-offset", "group-offsets", "timestamp", "specific-offsets")

TOPIC = Option("topic", text)
TOPIC_PATTERN = Option("topic-pattern", text)
SERVERS = Option("properties.bootstrap.servers", text, required=True)
GROUP = Option("properties.group.id", text)
STARTUP_MODE = Option("scan.startup.mode", one_of(*_MODES), default="group-offsets")
STARTUP_OFFSETS = Option("scan.startup.specific-offsets", text)
STARTUP_TIMESTAMP = Option("scan.startup.timestamp-millis", integer)
BOUNDED_MODE = Option("scan.bounded.mode", one_of("unbounded", *_MODES[1:]), default="unbounded")
BOUNDED_OFFSETS = Option("scan.bounded.specific-offsets", text)
BOUNDED_TIMESTAMP = Option("scan.bounded.timestamp-millis", integer)
DISCOVERY = Option("scan.topic-partition-discovery.interval", duration)
KEY_FIELDS = Option("key.fields", text)
KEY_PREFIX = Option("key.fields-prefix", text, default="")
VALUE_FIELDS = Option("value.fields-include", one_of("all", "except_key"), default="all")
PARTITIONER = Option("sink.partitioner", text, default="default")
GUARANTEE = Option(
    "sink.delivery-guarantee",
    one_of("none", "at-least-once", "exactly-once"),
    default="at-least-once",
)
SEMANTIC = Option("sink.semantic", one_of("none", "at-least-once", "exactly-once"))
TRANSACTIONAL_ID = Option("sink.transactional-id-prefix", text)
PARALLELISM = Option("sink.parallelism", integer)

READING = (STARTUP_MODE, STARTUP_OFFSETS, STARTUP_TIMESTAMP, BOUNDED_MODE, BOUNDED_OFFSETS,
           BOUNDED_TIMESTAMP, DISCOVERY)  # fmt: skip
WRITING = (PARTITIONER, GUARANTEE, SEMANTIC, TRANSACTIONAL_ID, PARALLELISM)


def properties(options: TableOptions) -> dict[str, str]:
    """Return the properties of Kafka's client."""
    found = options.beginning_with("properties.")
    interval = options[DISCOVERY]
    if interval is not None:
        found["partition.discovery.interval.ms"] = str(interval)
    return found


def subscription(options: TableOptions) -> Subscription:
    """Return the topics that a table reads.

    Raises:
        ValidationError: there are none, or both names and a pattern.
    """
    topics, pattern = options[TOPIC], options[TOPIC_PATTERN]
    if topics is not None and pattern is not None:
        raise ValidationError(
            "Option 'topic' and 'topic-pattern' shouldn't be set together for a source."
        )
    if pattern is not None:
        return Subscription(pattern=pattern)
    if topics is None:
        raise ValidationError("Either 'topic' or 'topic-pattern' must be set.")
    return Subscription(topics=tuple(topic.strip() for topic in topics.split(";")))


def written_topic(options: TableOptions) -> str:
    """Return the one topic that a table writes.

    Raises:
        ValidationError: there is none, or more than one.
    """
    topic = options[TOPIC]
    options.note((TOPIC_PATTERN,))
    if topic is None or ";" in topic:
        raise ValidationError("A Kafka sink writes exactly one topic: set the option 'topic'.")
    return topic


def starting(options: TableOptions) -> OffsetRule:
    """Return where reading begins."""
    reset: Reset = "none"
    given = options.given.get("properties.auto.offset.reset")
    if given in {"earliest", "latest"}:
        reset = "earliest" if given == "earliest" else "latest"
    return _rule(options, options[STARTUP_MODE], STARTUP_OFFSETS, STARTUP_TIMESTAMP, reset)


def stopping(options: TableOptions) -> OffsetRule | None:
    """Return where reading ends, or None if it never ends."""
    mode = options[BOUNDED_MODE]
    if mode == "unbounded":
        options.note((BOUNDED_OFFSETS, BOUNDED_TIMESTAMP))
        return None
    return _rule(options, mode, BOUNDED_OFFSETS, BOUNDED_TIMESTAMP, "none")


def guarantee(options: TableOptions) -> Guarantee:
    """Return what a sink promises about records when a job fails."""
    word = options[SEMANTIC] or options[GUARANTEE]
    found = Guarantee(word.replace("-", " "))
    if found is Guarantee.EXACTLY_ONCE and options[TRANSACTIONAL_ID] is None:
        raise ValidationError(
            "sink.transactional-id-prefix must be specified when using "
            "DeliveryGuarantee.EXACTLY_ONCE."
        )
    return found


def check_partitioner(options: TableOptions) -> None:
    """Refuse partitioners that Kafka's client does not have.

    Raises:
        UnsupportedFlinkFeature: the option asks for another one than the client's.
    """
    if options[PARTITIONER] != "default":
        raise_unsupported(
            f"'sink.partitioner' = '{options[PARTITIONER]}'",
            kind=Gap.NOT_YET,
            reason="Kafka's client chooses the partition",
            instead="Leave the option out: records with equal keys go to one partition.",
        )


def _rule(
    options: TableOptions,
    mode: str,
    offsets: Option[str],
    timestamp: Option[int],
    reset: Reset,
) -> OffsetRule:
    given_offsets, given_timestamp = options[offsets], options[timestamp]
    if mode == "timestamp":
        if given_timestamp is None:
            raise ValidationError(f"'{timestamp.key}' is required in the mode 'timestamp'.")
        return OffsetRule("timestamp", timestamp=given_timestamp)
    if mode == "specific-offsets":
        if given_offsets is None:
            raise ValidationError(f"'{offsets.key}' is required in the mode 'specific-offsets'.")
        topic = options[TOPIC] or ""
        return OffsetRule("specified", reset, specified=_specified(topic, given_offsets))
    if mode == "group-offsets" and options[GROUP] is None:
        raise ValidationError(
            "The mode 'group-offsets' needs the option 'properties.group.id'. Set it, or "
            "'scan.startup.mode' = 'earliest-offset'."
        )
    kinds: dict[str, Literal["earliest", "latest", "committed"]] = {
        "earliest-offset": "earliest",
        "latest-offset": "latest",
        "group-offsets": "committed",
    }
    return OffsetRule(kinds[mode], reset)


def _specified(topic: str, written: str) -> dict[Partition, int]:
    found: dict[Partition, int] = {}
    for pair in written.rstrip(";").split(";"):
        try:
            parts = dict(part.split(":") for part in pair.split(","))
            found[topic, int(parts["partition"])] = int(parts["offset"])
        except (ValueError, KeyError):
            raise ValidationError(
                "Invalid properties 'scan.startup.specific-offsets' should follow the format "
                f"'partition:0,offset:42;partition:1,offset:300', but is '{written}'."
            ) from None
    return found
