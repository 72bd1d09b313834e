"""Kafka's consumer and producer for ``add_source`` and ``add_sink``."""

from __future__ import annotations

import time
import warnings
from abc import ABC
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from pyflink_on_spark._connectors.kafka.offsets import OffsetRule
from pyflink_on_spark._connectors.kafka.partitions import Subscription
from pyflink_on_spark._connectors.kafka.records import RecordRule
from pyflink_on_spark._connectors.kafka.sink import Guarantee, KafkaRecordSink, KafkaSinkConfig
from pyflink_on_spark._connectors.kafka.source import KafkaSourceConfig, KafkaSplitSource
from pyflink_on_spark._runtime.user_code.user_function import UserFunction
from pyflink_on_spark.common import DeserializationSchema, SerializationSchema, TypeInformation
from pyflink_on_spark.common._java_handles import own_handle
from pyflink_on_spark.datastream.connectors._arguments import (
    argument,
    properties_argument,
    require,
)
from pyflink_on_spark.datastream.connectors.kafka.offsets import (
    KafkaOffsetResetStrategy,
    Offsets,
    OffsetsKind,
)
from pyflink_on_spark.datastream.functions import SinkFunction, SourceFunction

_DISCOVERY = "flink.partition-discovery.interval-millis"
_RESETS = ("earliest", "latest")


@dataclass(frozen=True)
class ConsumerOptions:
    """What a FlinkKafkaConsumer was told.

    Attributes:
        topics: the topics' names.
        deserializer: what makes elements of the records' values.
        properties: the client's properties, as they were given.
        starting: where reading begins; None: at the group's offsets, and where there are none as
            ``auto.offset.reset`` says.
        commit_on_checkpoints: whether a checkpoint's offsets are committed to the group.
        keep_restored_partitions: whether partitions of a checkpoint are read that do not belong
            to the topics.
    """

    topics: tuple[str, ...]
    deserializer: DeserializationSchema
    properties: dict[str, str] = field(repr=False)
    starting: Offsets | None = None
    commit_on_checkpoints: bool = True
    keep_restored_partitions: bool = False

    def _runtime(self) -> KafkaSplitSource:
        """Return what reads."""
        # As Kafka's consumer did by itself, and Flink's old one left it to.
        given = {"enable.auto.commit": "true", **self.properties}
        given["partition.discovery.interval.ms"] = given.pop(_DISCOVERY, "-1")
        reset = given.get("auto.offset.reset", "latest")
        group = OffsetRule("committed", "none" if reset not in _RESETS else reset)  # type: ignore[arg-type]
        reading = KafkaSourceConfig(
            Subscription(topics=self.topics),
            group if self.starting is None else self.starting._rule(),
            None,
            False,
            UserFunction.of(self.deserializer),
            given,
            self.commit_on_checkpoints,
            self.keep_restored_partitions,
        )
        return KafkaSplitSource(reading, self.deserializer._produced_type())


class FlinkKafkaConsumerBase(SourceFunction, ABC):
    """What a FlinkKafkaConsumer can be told.

    Args:
        j_flink_kafka_consumer: its options to begin with.
    """

    def __init__(self, j_flink_kafka_consumer):
        call = f"{type(self).__name__}(j_flink_kafka_consumer)"
        self._options = own_handle(j_flink_kafka_consumer, ConsumerOptions, call)
        super().__init__(source_func=j_flink_kafka_consumer)

    def set_commit_offsets_on_checkpoints(
        self, commit_on_checkpoints: bool
    ) -> FlinkKafkaConsumerBase:
        """Set whether offsets are committed to the group at checkpoints; they are without this."""
        call = "set_commit_offsets_on_checkpoints(commit_on_checkpoints)"
        return self._with(commit_on_checkpoints=argument(commit_on_checkpoints, bool, call))

    def set_start_from_earliest(self) -> FlinkKafkaConsumerBase:
        """Begin with the first record there is."""
        return self._start_from(OffsetsKind.EARLIEST, KafkaOffsetResetStrategy.EARLIEST)

    def set_start_from_latest(self) -> FlinkKafkaConsumerBase:
        """Begin behind the last record, as it is when the job starts."""
        return self._start_from(OffsetsKind.LATEST, KafkaOffsetResetStrategy.LATEST)

    def set_start_from_timestamp(self, startup_offsets_timestamp: int) -> FlinkKafkaConsumerBase:
        """Begin with the first record that is not older than a time.

        Args:
            startup_offsets_timestamp: ms since the epoch.

        Raises:
            ValueError: it is negative, or in the future.
        """
        call = "set_start_from_timestamp(startup_offsets_timestamp)"
        since = argument(startup_offsets_timestamp, int, call)
        require(since >= 0, "The provided value for the startup offsets timestamp is invalid.")
        now = time.time_ns() // 1_000_000
        require(since <= now, f"Startup time[{since}] must be before current time[{now}].")
        reset = KafkaOffsetResetStrategy.LATEST
        return self._with(starting=Offsets(OffsetsKind.TIMESTAMP, reset, timestamp=since))

    def set_start_from_group_offsets(self) -> FlinkKafkaConsumerBase:
        """Begin where the group is; the default."""
        return self._with(starting=None)

    def disable_filter_restored_partitions_with_subscribed_topics(self) -> FlinkKafkaConsumerBase:
        """Go on with a checkpoint's partitions even if they do not belong to the topics."""
        return self._with(keep_restored_partitions=True)

    def get_produced_type(self) -> TypeInformation:
        """Return the type of the elements."""
        return self._options.deserializer._produced_type()

    @property
    def _source(self) -> KafkaSplitSource:
        return self._options._runtime()

    def _start_from(
        self, kind: OffsetsKind, reset: KafkaOffsetResetStrategy
    ) -> FlinkKafkaConsumerBase:
        return self._with(starting=Offsets(kind, reset))

    def _with(self, **changes: Any) -> FlinkKafkaConsumerBase:
        self._options = self._j_function = replace(self._options, **changes)
        return self


class FlinkKafkaConsumer(FlinkKafkaConsumerBase):
    """Reads Kafka topics; PyFlink 1.16 put KafkaSource in its place.

    Args:
        topics: a topic, or a list of topics.
        deserialization_schema: what makes elements of the records' values.
        properties: properties of Kafka's consumer.

    Raises:
        ValueError: there is no topic.
    """

    def __init__(
        self,
        topics: str | list[str],
        deserialization_schema: DeserializationSchema,
        properties: dict[str, str],
    ):
        warnings.warn(
            "FlinkKafkaConsumer is deprecated since 1.16, use KafkaSource",
            DeprecationWarning,
            stacklevel=2,
        )
        call = "FlinkKafkaConsumer(topics, deserialization_schema, properties)"
        names = topics if isinstance(topics, list) else [topics]
        require(
            names, "If subscribing to a fixed topics list, the supplied list cannot be null/empty."
        )
        super().__init__(
            ConsumerOptions(
                tuple(argument(name, str, call) for name in names),
                argument(deserialization_schema, DeserializationSchema, call),
                properties_argument(properties, call),
            )
        )


class Semantic(Enum):
    """What a FlinkKafkaProducer promises about records when the job fails.

    Attributes:
        EXACTLY_ONCE: each arrives once, in transactions.
        AT_LEAST_ONCE: each arrives, some perhaps more than once.
        NONE: records may be lost or arrive more than once.
    """

    # The tuples are PyFlink's values.
    EXACTLY_ONCE = (0,)
    AT_LEAST_ONCE = (1,)
    NONE = 2


@dataclass(frozen=True)
class ProducerOptions:
    """What a FlinkKafkaProducer was told.

    Attributes:
        topic: where records go.
        serializer: what makes the records' values.
        properties: the client's properties, as they were given.
        pool_size: how many transactions may be open, for exactly once.
        semantic: what happens to records when the job fails.
        log_failures_only: whether a record that cannot be written is only logged.
        flush_on_checkpoint: whether a checkpoint waits for the records before it.
        write_timestamps: whether records get the elements' timestamps.
        ignore_timed_out_transactions: whether a transaction that is too old to be committed, after
            a restart, is only logged.
    """

    topic: str
    serializer: SerializationSchema
    properties: dict[str, str] = field(repr=False)
    pool_size: int = 5
    semantic: Semantic = Semantic.AT_LEAST_ONCE
    log_failures_only: bool = False
    flush_on_checkpoint: bool = True
    write_timestamps: bool = False
    ignore_timed_out_transactions: bool = False

    def _runtime(self) -> KafkaRecordSink:
        """Return what writes."""
        guarantee = Guarantee[self.semantic.name]
        if guarantee is Guarantee.AT_LEAST_ONCE and not self.flush_on_checkpoint:
            guarantee = Guarantee.NONE
        records = RecordRule(
            self.topic, None, UserFunction.of(self.serializer), self.write_timestamps
        )
        given = dict(self.properties)
        chosen = given.pop("transactional.id", None)
        return KafkaRecordSink(
            KafkaSinkConfig(
                records,
                guarantee,
                chosen or f"pyflink-on-spark-{self.topic}",
                given,
                self.log_failures_only,
                id_has_place=chosen is None,
            )
        )


class FlinkKafkaProducerBase(SinkFunction, ABC):
    """What a FlinkKafkaProducer can be told.

    Args:
        j_flink_kafka_producer: its options to begin with.
    """

    def __init__(self, j_flink_kafka_producer):
        call = f"{type(self).__name__}(j_flink_kafka_producer)"
        self._options = own_handle(j_flink_kafka_producer, ProducerOptions, call)
        super().__init__(sink_func=j_flink_kafka_producer)

    def set_log_failures_only(self, log_failures_only: bool) -> FlinkKafkaProducerBase:
        """Set whether a record that cannot be written is only logged; the job fails without."""
        call = "set_log_failures_only(log_failures_only)"
        return self._with(log_failures_only=argument(log_failures_only, bool, call))

    def set_flush_on_checkpoint(self, flush_on_checkpoint: bool) -> FlinkKafkaProducerBase:
        """Set whether a checkpoint waits for the records before it; it does without this."""
        call = "set_flush_on_checkpoint(flush_on_checkpoint)"
        return self._with(flush_on_checkpoint=argument(flush_on_checkpoint, bool, call))

    def set_write_timestamp_to_kafka(
        self, write_timestamp_to_kafka: bool
    ) -> FlinkKafkaProducerBase:
        """Set whether records get the elements' timestamps."""
        call = "set_write_timestamp_to_kafka(write_timestamp_to_kafka)"
        return self._with(write_timestamps=argument(write_timestamp_to_kafka, bool, call))

    @property
    def _sink(self) -> KafkaRecordSink:
        return self._options._runtime()

    def _with(self, **changes: Any) -> Any:
        self._options = self._j_function = replace(self._options, **changes)
        return self


class FlinkKafkaProducer(FlinkKafkaProducerBase):
    """Writes to a Kafka topic; PyFlink 1.16 put KafkaSink in its place.

    Args:
        topic: the topic.
        serialization_schema: what makes the records' values.
        producer_config: properties of Kafka's producer.
        kafka_producer_pool_size: how many transactions may be open, for EXACTLY_ONCE.
        semantic: what happens to records when the job fails.

    Raises:
        ValueError: ``bootstrap.servers`` is not among the properties, or the pool is empty.
    """

    def __init__(
        self,
        topic: str,
        serialization_schema: SerializationSchema,
        producer_config: dict[str, str],
        kafka_producer_pool_size: int = 5,
        semantic=Semantic.AT_LEAST_ONCE,
    ):
        warnings.warn(
            "FlinkKafkaProducer is deprecated since 1.16, use KafkaSink",
            DeprecationWarning,
            stacklevel=2,
        )
        call = "FlinkKafkaProducer(topic, serialization_schema, producer_config)"
        properties = properties_argument(producer_config, call)
        require(
            "bootstrap.servers" in properties,
            "bootstrap.servers must be supplied in the producer config properties.",
        )
        pool_size = argument(kafka_producer_pool_size, int, call)
        require(pool_size > 0, "kafkaProducersPoolSize must be non empty")
        super().__init__(
            ProducerOptions(
                argument(topic, str, call),
                argument(serialization_schema, SerializationSchema, call),
                properties,
                pool_size,
                argument(semantic, Semantic, call),
            )
        )

    def ignore_failures_after_transaction_timeout(self) -> FlinkKafkaProducer:
        """Only log when a transaction is too old to be committed after a restart."""
        return self._with(ignore_timed_out_transactions=True)
