"""Clients of Kafka, and the errors that they report."""

from __future__ import annotations

import logging
import re
import time
import uuid
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._compat.optional_package import optional_package
from pyflink_on_spark._connectors.kafka.config import (
    KafkaSourceConfig,
    Note,
    client_properties,
    not_noted,
    producer_properties,
)
from pyflink_on_spark._connectors.reachability import Reachability

if TYPE_CHECKING:
    from types import ModuleType


_log = logging.getLogger("pyflink_on_spark.kafka")
_UNKNOWN_PROPERTY = re.compile(r'No such configuration property: "([^"]+)"')
_UNKNOWN_TO_ALL = "pyflink.on.spark.unknown.to.all"
_PLUGINS = "plugin.library.paths"
_API_TIMEOUT = 30_000
# librdkafka's own 100 ms mean 20 attempts a second for as long as no broker can be reached.
_BACK_OFF = ("reconnect.backoff.ms", "500")
_SECONDS_BETWEEN_PROBES = 1.0
_SECONDS_OF_PROBE = 0.05


def confluent_kafka() -> ModuleType:
    """Return the module confluent_kafka.

    Raises:
        ModuleNotFoundError: the package is not installed. The message says how to install it.
    """
    return optional_package("confluent_kafka", "confluent-kafka", "Kafka's connectors", "kafka")


def api_timeout(properties: Mapping[str, str]) -> float:
    """Return how long to wait for an answer of the cluster (``default.api.timeout.ms``), in s."""
    return int(properties.get("default.api.timeout.ms", _API_TIMEOUT)) / 1000


class _ClientLog:
    """Takes the log lines of librdkafka, which reports each connection that fails or ends."""

    @staticmethod
    def log(level: int, text: str, facility: str, *arguments: object) -> None:
        """Log a line; the name and signature are those of a logger."""
        of_connection = facility in {"FAIL", "ERROR"}
        _log.log(logging.DEBUG if of_connection else level, text, facility, *arguments)


class ClientErrors:
    """The errors that a client reports in the background.

    Args:
        servers: the addresses of the cluster.
    """

    def __init__(self, servers: str) -> None:
        self._servers = servers
        self._last: Any = None
        self._fatal: Exception | None = None
        self.reachability = Reachability(f"Kafka at {servers}")

    def __call__(self, error: Any) -> None:
        """Take an error from librdkafka, which recovers from most of them."""
        codes = confluent_kafka().KafkaError
        if error.code() == codes._ALL_BROKERS_DOWN:
            self.reachability.lost((self._last or error).str())
            return
        self._last = error
        if error.code() in {codes._AUTHENTICATION, codes.SASL_AUTHENTICATION_FAILED}:
            self._fatal = PermissionError(
                f"Kafka at {self._servers} refuses the credentials: {error.str()}"
            )
        elif error.fatal():
            self._fatal = RuntimeError(f"Kafka's client has failed: {error.str()}")

    def check(self) -> None:
        """Raise an error from which the client cannot recover."""
        if self._fatal is not None:
            raise self._fatal

    def not_reachable(self, seconds: float) -> ConnectionError:
        """Return the error for a cluster that did not answer in time."""
        why = "" if self._last is None else f": {self._last.str()}"
        return ConnectionError(
            f"Kafka at {self._servers} did not answer within {seconds:g} s{why} "
            "(bootstrap.servers says where it is, default.api.timeout.ms how long to wait)"
        )


class KafkaClient:
    """A consumer or a producer of confluent_kafka, and its errors.

    Args:
        kind: ``Consumer`` or ``Producer``.
        properties: librdkafka's properties. Properties that it does not know are left out.
        timeout: how long the cluster may take to answer, in s.
        settings: properties whose values are not text.
        note: called with the name of each property that is left out.
    """

    def __init__(
        self,
        kind: str,
        properties: Mapping[str, str],
        timeout: float,
        settings: Mapping[str, object],
        note: Note = not_noted,
    ) -> None:
        self.servers = properties.get("bootstrap.servers", "")
        self.errors = ClientErrors(self.servers)
        self.timeout = timeout
        self._kind, self._next_probe = kind, 0.0
        known: dict[str, object] = dict([_BACK_OFF])
        known |= {**properties, **settings, "error_cb": self.errors}
        while (unknown := self._create(kind, known)) is not None:
            note(unknown)
            del known[unknown]

    def _create(self, kind: str, known: Mapping[str, object]) -> str | None:
        """Create the client; return the name of a property that it does not know, if any."""
        module = confluent_kafka()
        try:
            self.kafka: Any = getattr(module, kind)(known, logger=_ClientLog)
        except module.KafkaException as error:
            return _unknown_property(error.args[0], known)
        return None

    def ask(self, call: Callable[..., object], *arguments: object) -> Any:
        """Call a function that asks the cluster, again and again until the cluster answers.

        Raises:
            ConnectionError: the cluster does not answer in time.
            PermissionError: the cluster refuses the credentials.
        """
        module = confluent_kafka()
        deadline = time.monotonic() + self.timeout
        while True:
            left = deadline - time.monotonic()
            try:
                answer = call(*arguments, timeout=min(1.0, max(left, 0.1)))
            except module.KafkaException as error:
                self.kafka.poll(0)
                self.errors.check()
                if not _is_transient(error.args[0]):
                    raise _as_builtin_error(error.args[0]) from None
                if left <= 0:
                    raise self.errors.not_reachable(self.timeout) from None
            else:
                self.errors.reachability.found()
                return answer

    def check(self, topic: str | None = None) -> None:
        """Raise an error from which the client cannot recover; probe a cluster that is lost.

        Args:
            topic: a topic that exists, or None; the probe then asks for all topics.
        """
        self.errors.check()
        now = time.monotonic()
        if self.errors.reachability.waiting and now >= self._next_probe:
            self._next_probe = now + _SECONDS_BETWEEN_PROBES
            try:
                self.kafka.list_topics(*(topic,) if topic else (), timeout=_SECONDS_OF_PROBE)
            except confluent_kafka().KafkaException:
                return
            self.errors.reachability.found()

    def close(self) -> None:
        """Leave the cluster; a producer leaves it when it is deleted."""
        self.errors.reachability.close()
        if self._kind == "Consumer":
            self.kafka.close()


def consumer(config: KafkaSourceConfig, suffix: str = "", note: Note = not_noted) -> KafkaClient:
    """Return a new consumer without an assignment.

    Args:
        config: the settings of the source.
        suffix: the end of the client's id.
        note: called with the name of each property that has no effect here.
    """
    properties = client_properties(config.properties, note)
    prefix = config.properties.get("client.id.prefix", config.group or "pyflink-on-spark")
    properties.setdefault("client.id", f"{prefix}-{suffix}" if suffix else prefix)
    properties.setdefault("group.id", f"pyflink-on-spark-{uuid.uuid4().hex[:12]}")
    # The default of Java's consumer, which is not librdkafka's.
    properties.setdefault("isolation.level", "read_uncommitted")
    reset = config.starting.reset
    properties["auto.offset.reset"] = reset if reset in {"earliest", "latest"} else "error"
    settings = {
        "enable.auto.commit": False,
        "enable.partition.eof": config.stopping is not None,
        "allow.auto.create.topics": False,
    }
    return KafkaClient("Consumer", properties, api_timeout(config.properties), settings, note)


def check_producer_properties(properties: Mapping[str, str], note: Note) -> None:
    """Check the properties of a producer without a cluster.

    No client is created, and no file is read.

    Args:
        properties: of Kafka's Java producer.
        note: called with the name of each property that has no effect here.

    Raises:
        ValueError: librdkafka refuses a value, or only a JVM can read one.
    """
    translated = producer_properties(properties, note)
    if _PLUGINS in translated:
        return  # they are files of the workers, and have properties of their own
    module = confluent_kafka()
    # librdkafka stops at the first unknown property: the last one shows that it took all others.
    known = {**translated, _UNKNOWN_TO_ALL: ""}
    name = ""
    while name != _UNKNOWN_TO_ALL:
        try:
            module.Producer(known, logger=_ClientLog)
        except module.KafkaException as error:
            name = _unknown_property(error.args[0], known)
        if name != _UNKNOWN_TO_ALL:
            note(name)
            del known[name]


def _unknown_property(error: Any, known: Mapping[str, object]) -> str:
    """Return the name of the property that librdkafka does not know."""
    unknown = _UNKNOWN_PROPERTY.search(error.str())
    if unknown is None or unknown[1] not in known:
        raise ValueError(f"Kafka's client refuses its properties: {error.str()}") from None
    return unknown[1]


def _is_transient(error: Any) -> bool:
    codes = confluent_kafka().KafkaError
    return error.retriable() or error.code() in {
        codes._TRANSPORT,
        codes._TIMED_OUT,
        codes._TIMED_OUT_QUEUE,
        codes._ALL_BROKERS_DOWN,
        codes._RESOLVE,
        codes._WAIT_COORD,
        codes._WAIT_CACHE,
        codes.COORDINATOR_NOT_AVAILABLE,
        codes.COORDINATOR_LOAD_IN_PROGRESS,
        codes.LEADER_NOT_AVAILABLE,
        codes.NOT_LEADER_FOR_PARTITION,
        codes.REQUEST_TIMED_OUT,
    }


def _as_builtin_error(error: Any) -> Exception:
    codes = confluent_kafka().KafkaError
    refused = {
        codes.TOPIC_AUTHORIZATION_FAILED,
        codes.GROUP_AUTHORIZATION_FAILED,
        codes.CLUSTER_AUTHORIZATION_FAILED,
        codes.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    }
    kind = PermissionError if error.code() in refused else RuntimeError
    return kind(f"Kafka: {error.str()} ({error.name()})")
