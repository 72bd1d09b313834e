"""Clients of Kafka, and what they say when something is wrong."""

from __future__ import annotations

import importlib
import logging
import re
import time
from collections.abc import Callable, Mapping
from typing import Any

from pyflink_on_spark.common._recorded import note_recorded

_log = logging.getLogger("pyflink_on_spark.kafka")
_UNKNOWN_PROPERTY = re.compile(r'No such configuration property: "([^"]+)"')
_NOBODY_KNOWS = "pyflink.on.spark.nobody.knows"
_PLUGINS = "plugin.library.paths"
_API_TIMEOUT = 30_000

Note = Callable[[str], None]
"""Is told the name of a property that has no meaning here."""


def not_noted(key: str) -> None:
    """Say nothing: the driver has said it."""


def note_property(key: str) -> None:
    """Log that a property has no effect."""
    note_recorded(f"the Kafka property {key}", "librdkafka has none like it")


def confluent_kafka() -> Any:
    """Return the module confluent_kafka.

    Raises:
        ModuleNotFoundError: it is not installed; says how to install it.
    """
    try:
        return importlib.import_module("confluent_kafka")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "Kafka's connectors need the package confluent-kafka: "
            "pip install 'pyflink_on_spark[kafka]'",
            name=error.name,
        ) from None


def api_timeout(properties: Mapping[str, str]) -> float:
    """Return how many seconds to wait for an answer of the cluster: ``default.api.timeout.ms``."""
    return int(properties.get("default.api.timeout.ms", _API_TIMEOUT)) / 1000


class Problems:
    """What a client says about itself in the background.

    Args:
        servers: the cluster's address.
    """

    def __init__(self, servers: str) -> None:
        self._servers = servers
        self._last: Any = None
        self._fatal: Exception | None = None

    def __call__(self, error: Any) -> None:
        """Take an error that librdkafka tells of; most of them pass."""
        codes = confluent_kafka().KafkaError
        self._last = error
        if error.code() in {codes._AUTHENTICATION, codes.SASL_AUTHENTICATION_FAILED}:
            self._fatal = PermissionError(
                f"Kafka at {self._servers} refuses the credentials: {error.str()}"
            )
        elif error.fatal():
            self._fatal = RuntimeError(f"Kafka's client has failed: {error.str()}")

    def check(self) -> None:
        """Raise what cannot pass."""
        if self._fatal is not None:
            raise self._fatal

    def not_reachable(self, seconds: float) -> ConnectionError:
        """Return the error for a cluster that did not answer."""
        why = "" if self._last is None else f": {self._last.str()}"
        return ConnectionError(
            f"Kafka at {self._servers} did not answer within {seconds:g} s{why} "
            "(bootstrap.servers says where it is, default.api.timeout.ms how long to wait)"
        )


class Client:
    """A consumer or producer of confluent_kafka, and what went wrong with it.

    Args:
        kind: ``Consumer`` or ``Producer``.
        properties: librdkafka's, of text; those that it does not know are left out.
        timeout: in seconds, for an answer of the cluster.
        settings: properties that are not text.
        note: is told the name of each property that is left out.
    """

    def __init__(
        self,
        kind: str,
        properties: Mapping[str, str],
        timeout: float,
        settings: Mapping[str, Any],
        note: Note = not_noted,
    ) -> None:
        self.servers = properties.get("bootstrap.servers", "")
        self.problems = Problems(self.servers)
        self.timeout = timeout
        known: dict[str, Any] = {**properties, **settings, "error_cb": self.problems}
        while (unknown := self._made(kind, known)) is not None:
            note(unknown)
            del known[unknown]

    def _made(self, kind: str, known: Mapping[str, Any]) -> str | None:
        """Make the client; return the name of a property that it does not know, if there is one."""
        module = confluent_kafka()
        try:
            self.kafka: Any = getattr(module, kind)(known, logger=_log)
        except module.KafkaException as error:
            return _unknown(error.args[0], known)
        return None

    def ask(self, call: Callable[..., Any], *arguments: Any) -> Any:
        """Call something that asks the cluster, again and again until it answers.

        Raises:
            ConnectionError: it does not answer in time.
            PermissionError: it refuses the credentials.
        """
        module = confluent_kafka()
        deadline = time.monotonic() + self.timeout
        while True:
            left = deadline - time.monotonic()
            try:
                return call(*arguments, timeout=min(1.0, max(left, 0.1)))
            except module.KafkaException as error:
                self.kafka.poll(0)
                self.problems.check()
                if not _passes(error.args[0]):
                    raise _plain(error.args[0]) from None
                if left <= 0:
                    raise self.problems.not_reachable(self.timeout) from None


def check_properties(kind: str, properties: Mapping[str, str], note: Note) -> None:
    """Tell which properties librdkafka does not know; no client is made, and no file is read.

    Args:
        kind: ``Consumer`` or ``Producer``.
        properties: librdkafka's.
        note: is told the name of each that it does not know.

    Raises:
        ValueError: it refuses a value.
    """
    module = confluent_kafka()
    known = {**properties, _NOBODY_KNOWS: ""}  # the last one: so all others were taken before
    if _PLUGINS in known:
        return  # they are files of the workers, and have properties of their own
    name = ""
    while name != _NOBODY_KNOWS:
        try:
            getattr(module, kind)(known, logger=_log)
        except module.KafkaException as error:
            name = _unknown(error.args[0], known)
        if name != _NOBODY_KNOWS:
            note(name)
            del known[name]


def _unknown(error: Any, known: Mapping[str, Any]) -> str:
    """Return which property it is that librdkafka does not know."""
    unknown = _UNKNOWN_PROPERTY.search(error.str())
    if unknown is None or unknown[1] not in known:
        raise ValueError(f"Kafka's client refuses its properties: {error.str()}") from None
    return unknown[1]


def _passes(error: Any) -> bool:
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


def _plain(error: Any) -> Exception:
    codes = confluent_kafka().KafkaError
    refused = {
        codes.TOPIC_AUTHORIZATION_FAILED,
        codes.GROUP_AUTHORIZATION_FAILED,
        codes.CLUSTER_AUTHORIZATION_FAILED,
        codes.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    }
    kind = PermissionError if error.code() in refused else RuntimeError
    return kind(f"Kafka: {error.str()} ({error.name()})")
