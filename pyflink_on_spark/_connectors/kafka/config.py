"""The settings of a Kafka source and of a Kafka sink, and the properties of their clients."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

from pyflink_on_spark._compat.recorded import note_recorded
from pyflink_on_spark._connectors.kafka.records import RecordMaker
from pyflink_on_spark._runtime.contract.connector import WatermarkRule
from pyflink_on_spark._runtime.user_code import UserFunction

_DISCOVERY_INTERVAL = 300_000
_AUTO_COMMIT_INTERVAL = 5_000

Partition = tuple[str, int]
"""The name of a topic and the number of one of its partitions."""
Reset = Literal["earliest", "latest", "none"]
Note = Callable[[str], None]
"""Called with the name of each property that has no effect here."""
_NOT_REPORTED = frozenset(
    ["key.deserializer", "key.serializer", "value.deserializer", "value.serializer"]
)
_PARTITIONERS = {
    "DefaultPartitioner": "murmur2_random",
    "UniformStickyPartitioner": "random",
    "RoundRobinPartitioner": "random",
}
_CREDENTIAL = re.compile(r"""(\w+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^\s;]+))""")
_LOGIN_MODULE = re.compile(r"\s*[\w.$]*?(\w+LoginModule)(?:\s|;|$)")
_ESCAPED = re.compile(r"\\(.)")
_PEM_ENDS = (".pem", ".crt", ".cer")
_PKCS12_ENDS = (".p12", ".pfx")
_IDEMPOTENCE = "enable.idempotence"
# The second name of each pair is librdkafka's own.
_ACKNOWLEDGEMENTS = ("acks", "request.required.acks")
_RETRIES = ("retries", "message.send.max.retries")
_IN_FLIGHT = ("max.in.flight.requests.per.connection", "max.in.flight")
_MOST_IN_FLIGHT = 5


@dataclass(frozen=True)
class Subscription:
    """The partitions that a source reads. Exactly one of the three is set.

    Args:
        topics: all partitions of these topics.
        pattern: all topics whose whole name matches this regular expression.
        partitions: exactly these partitions.
    """

    topics: tuple[str, ...] = ()
    pattern: str | None = None
    partitions: frozenset[Partition] = frozenset()

    @property
    def can_grow(self) -> bool:
        """True if the subscription may include partitions that do not exist yet."""
        return not self.partitions

    def covers(self, partition: Partition) -> bool:
        """True for a partition of the subscription."""
        topic = partition[0]
        if self.pattern is not None:
            return re.fullmatch(self.pattern, topic) is not None
        return topic in self.topics or partition in self.partitions


@dataclass(frozen=True)
class OffsetRule:
    """The rule for one offset in each partition.

    Args:
        kind: which offset.
        reset: what to use in a partition without such an offset; ``none`` fails the job.
        timestamp: for ``timestamp``: of the first record, in ms since the epoch.
        specified: for ``specified``: the offset of each partition.
    """

    kind: Literal["earliest", "latest", "committed", "timestamp", "specified"]
    reset: Reset = "none"
    timestamp: int = 0
    specified: Mapping[Partition, int] = field(default_factory=dict)


@dataclass(frozen=True)
class KafkaSourceConfig:
    """The settings of a Kafka source.

    Args:
        subscription: the partitions to read.
        starting: where reading begins.
        stopping: where reading ends, or None for a source that never ends.
        bounded: whether the job treats the source as bounded. An unbounded source may still have
            ``stopping`` offsets.
        deserializer: the deserialization schema of the records' values.
        produced_type: the type of the elements.
        properties: the properties of Kafka's Java consumer, as the user set them.
        commits_on_checkpoints: whether a complete checkpoint's offsets are committed to the group.
        keeps_restored: whether to read partitions of a restored checkpoint that the subscription
            does not cover.
        watermarks: how the source generates watermarks.
        whole_records: whether the deserializer gets the records of Kafka's client, not their
            values.
    """

    subscription: Subscription
    starting: OffsetRule
    stopping: OffsetRule | None
    bounded: bool
    deserializer: UserFunction
    produced_type: object
    properties: Mapping[str, str] = field(repr=False)
    commits_on_checkpoints: bool = True
    keeps_restored: bool = True
    watermarks: WatermarkRule = field(default_factory=WatermarkRule)
    whole_records: bool = False

    @property
    def group(self) -> str | None:
        """The consumer group, or None."""
        return self.properties.get("group.id")

    @property
    def discovery_interval(self) -> int | None:
        """The time between two searches for new partitions, in ms; None for no search."""
        if self.bounded or not self.subscription.can_grow:
            return None
        default = _DISCOVERY_INTERVAL
        interval = int(self.properties.get("partition.discovery.interval.ms", default))
        return interval if interval > 0 else None

    @property
    def auto_commit_interval(self) -> int | None:
        """The time between two commits to the group without checkpoints, in ms; None for none."""
        asked = self.properties.get("enable.auto.commit", "false").strip().lower() == "true"
        interval = self.properties.get("auto.commit.interval.ms", _AUTO_COMMIT_INTERVAL)
        return int(interval) if asked and self.group is not None else None


class Guarantee(Enum):
    """The guarantee of a sink about records when the job fails and restarts."""

    NONE = "none"
    AT_LEAST_ONCE = "at least once"
    EXACTLY_ONCE = "exactly once"


@dataclass(frozen=True)
class KafkaSinkConfig:
    """The settings of a Kafka sink.

    Args:
        records: how elements become records.
        guarantee: what the sink promises about records when the job fails.
        transactional_id: identifies the sink in its cluster, for exactly once.
        properties: the properties of Kafka's Java producer, as the user set them.
        log_failures_only: whether the sink only logs a record that it cannot write.
        id_has_place: whether the names of the job and of the operator complete the transactional
            id, so that several sinks can share the setting.
    """

    records: RecordMaker
    guarantee: Guarantee
    transactional_id: str
    properties: Mapping[str, str] = field(repr=False)
    log_failures_only: bool = False
    id_has_place: bool = False


def not_noted(key: str) -> None:
    """Ignore the property, because the driver has reported it already."""


def note_property(key: str) -> None:
    """Log that the property has no effect."""
    note_recorded(f"the Kafka property {key}", "librdkafka has no such property")


OWN = frozenset(
    [
        "client.id.prefix",
        "commit.offsets.on.checkpoint",
        "default.api.timeout.ms",
        "partition.discovery.interval.ms",
        "enable.auto.commit",
        "auto.commit.interval.ms",
    ]
)
"""Properties that this package reads itself and does not hand to librdkafka."""

_WITHOUT_EFFECT = frozenset(
    [
        "auto.include.jmx.reporter",
        "exclude.internal.topics",
        "interceptor.classes",
        "key.deserializer",
        "key.serializer",
        "max.block.ms",
        "max.poll.records",
        "metric.reporters",
        "metrics.num.samples",
        "metrics.recording.level",
        "metrics.sample.window.ms",
        "register.consumer.metrics",
        "security.providers",
        "ssl.enabled.protocols",
        "ssl.keymanager.algorithm",
        "ssl.protocol",
        "ssl.secure.random.implementation",
        "ssl.trustmanager.algorithm",
        "value.deserializer",
        "value.serializer",
    ]
)
_RENAMED = {
    "fetch.max.wait.ms": "fetch.wait.max.ms",
    "max.request.size": "message.max.bytes",
    "receive.buffer.bytes": "socket.receive.buffer.bytes",
    "send.buffer.bytes": "socket.send.buffer.bytes",
    "socket.connection.setup.timeout.max.ms": "socket.connection.setup.timeout.ms",
    "ssl.keystore.certificate.chain": "ssl.certificate.pem",
    "ssl.keystore.key": "ssl.key.pem",
    "ssl.truststore.certificates": "ssl.ca.pem",
}


def client_properties(properties: Mapping[str, str], note: Note = not_noted) -> dict[str, str]:
    """Return the properties of librdkafka that correspond to those of a Java client.

    Args:
        properties: of Kafka's Java clients. Properties of librdkafka itself are kept.
        note: called with the name of each property that has no effect here.

    Raises:
        ValueError: a property names something that only a JVM can read. The message says what to
            set instead.
    """
    found: dict[str, str] = {}
    for key, value in properties.items():
        if key in OWN or key.startswith(("ssl.truststore.", "ssl.keystore.")):
            if key in _RENAMED:
                found[_RENAMED[key]] = value
        elif key in _WITHOUT_EFFECT:
            if key not in _NOT_REPORTED:
                note(key)
        else:
            found.update(_translated(key, value))
    found.update(_truststore(properties))
    found.update(_keystore(properties))
    return found


def _translated(key: str, value: str) -> dict[str, str]:
    if key == "sasl.jaas.config":
        return _credentials(value)
    if key == "auto.offset.reset":
        return {key: "error" if value == "none" else value}
    if key == "ssl.endpoint.identification.algorithm":
        return {key: value.lower() or "none"}
    if key == "buffer.memory":
        return {"queue.buffering.max.kbytes": str(max(1, int(value) // 1024))}
    if key == "partitioner.class":
        return {"partitioner": _partitioner(value)}
    return {_RENAMED.get(key, key): value}


def _partitioner(name: str) -> str:
    partitioner = _PARTITIONERS.get(name.rpartition(".")[2])
    if partitioner is None:
        raise ValueError(
            f"partitioner.class={name} is a Java class. Set librdkafka's property 'partitioner' "
            "(murmur2_random is what Kafka's Java clients do by default)."
        )
    return partitioner


def _credentials(config: str) -> dict[str, str]:
    """Return the credentials in a JAAS configuration. No message may contain them."""
    named = _LOGIN_MODULE.match(config)
    module = named[1] if named else ""
    given = {
        match[1]: _ESCAPED.sub(r"\1", next(text for text in match.groups()[1:] if text is not None))
        for match in _CREDENTIAL.finditer(config)
    }
    if module in {"PlainLoginModule", "ScramLoginModule"}:
        names = {"username": "sasl.username", "password": "sasl.password"}
    elif module == "Krb5LoginModule":
        names = {"principal": "sasl.kerberos.principal", "keyTab": "sasl.kerberos.keytab"}
    else:
        raise ValueError(
            f"sasl.jaas.config names the login module {module or '(none)'}, which is a Java class. "
            "Set librdkafka's own properties in its place: sasl.mechanism, sasl.username, "
            "sasl.password, or sasl.oauthbearer.*"
        )
    return {theirs: given[ours] for ours, theirs in names.items() if ours in given}


def _truststore(properties: Mapping[str, str]) -> dict[str, str]:
    location = properties.get("ssl.truststore.location")
    if location is None:
        return {}
    if _store_type(properties, "ssl.truststore") != "PEM":
        raise ValueError(
            f"ssl.truststore.location={location} is a Java key store. Export its certificates with "
            "'keytool -list -rfc -keystore FILE' into a PEM file, and set ssl.ca.location to that."
        )
    return {"ssl.ca.location": location}


def _keystore(properties: Mapping[str, str]) -> dict[str, str]:
    location = properties.get("ssl.keystore.location")
    if location is None:
        return {}
    kind = _store_type(properties, "ssl.keystore")
    if kind == "PEM":
        return {"ssl.certificate.location": location, "ssl.key.location": location}
    if kind != "PKCS12":
        raise ValueError(
            f"ssl.keystore.location={location} is a Java key store. Convert it with 'keytool "
            "-importkeystore -srckeystore FILE -destkeystore FILE.p12 -deststoretype PKCS12', and "
            "set ssl.keystore.location to that."
        )
    found = {"ssl.keystore.location": location}
    password = properties.get("ssl.keystore.password")
    return found if password is None else {**found, "ssl.keystore.password": password}


def _store_type(properties: Mapping[str, str], which: str) -> str:
    location = properties[f"{which}.location"].lower()
    kind = properties.get(f"{which}.type")
    if kind is not None:
        return kind.upper()
    if location.endswith(_PEM_ENDS):
        return "PEM"
    return "PKCS12" if location.endswith(_PKCS12_ENDS) else "JKS"


def producer_properties(properties: Mapping[str, str], note: Note = not_noted) -> dict[str, str]:
    """Return the properties of a librdkafka producer with the defaults of Kafka's Java producer.

    Such a producer writes records once and in order, unless a property asks for something else.

    Args:
        properties: of Kafka's Java producer.
        note: called with the name of each property that has no effect here.

    Raises:
        ValueError: a property names something that only a JVM can read. The message says what to
            set instead.
    """
    translated = client_properties(properties, note)
    translated.setdefault("partitioner", "murmur2_random")
    if _IDEMPOTENCE not in translated and not _rule_out_idempotence(translated):
        translated[_IDEMPOTENCE] = "true"
    if _value(translated, _IN_FLIGHT) is None:
        translated[_IN_FLIGHT[0]] = str(_MOST_IN_FLIGHT)
    return translated


def _rule_out_idempotence(properties: Mapping[str, str]) -> bool:
    if _value(properties, _ACKNOWLEDGEMENTS) not in {None, "all", "-1"}:
        return True
    if _value(properties, _RETRIES) == "0":
        return True
    in_flight = _value(properties, _IN_FLIGHT)
    return in_flight is not None and in_flight.isdigit() and int(in_flight) > _MOST_IN_FLIGHT


def _value(properties: Mapping[str, str], names: tuple[str, ...]) -> str | None:
    found = [properties[name].strip().lower() for name in names if name in properties]
    return found[-1] if found else None
