"""Kafka's consumer and producer for ``add_source`` and ``add_sink``."""

from __future__ import annotations

import time
import warnings
from abc import ABC
from collections.abc import Mapping
from dataclasses import replace
from enum import Enum
from typing import Any

from pyflink_on_spark._compat.arguments import own_handle
from pyflink_on_spark._connectors.kafka.config import (
    Guarantee,
    KafkaSinkConfig,
    KafkaSourceConfig,
    OffsetRule,
    Reset,
    Subscription,
)
from pyflink_on_spark._connectors.kafka.reader import KafkaSplitSource
from pyflink_on_spark._connectors.kafka.records import RecordFormat
from pyflink_on_spark._connectors.kafka.sink import KafkaRecordSink
from pyflink_on_spark._runtime.user_code import UserFunction
from pyflink_on_spark.common import DeserializationSchema, SerializationSchema, TypeInformation
from pyflink_on_spark.datastream.connectors._arguments import (
    argument,
    properties_argument,
    require,
)
from pyflink_on_spark.datastream.functions import SinkFunction, SourceFunction

_DISCOVERY = "flink.partition-discovery.interval-millis"
_RESETS: dict[str, Reset] = {"earliest": "earliest", "latest": "latest"}


class FlinkKafkaConsumerBase(SourceFunction, ABC):
    """The settings of a FlinkKafkaConsumer.

    Args:
        j_flink_kafka_consumer: made by the subclass.
    """

    def __init__(self, j_flink_kafka_consumer):
        call = f"{type(self).__name__}(j_flink_kafka_consumer)"
        self._config = own_handle(j_flink_kafka_consumer, KafkaSourceConfig, call)
        super().__init__(source_func=j_flink_kafka_consumer)

    def set_commit_offsets_on_checkpoints(
        self, commit_on_checkpoints: bool
    ) -> FlinkKafkaConsumerBase:
        """Set whether checkpoints commit their offsets to the group; by default yes."""
        call = "set_commit_offsets_on_checkpoints(commit_on_checkpoints)"
        return self._with(commits_on_checkpoints=argument(commit_on_checkpoints, bool, call))

    def set_start_from_earliest(self) -> FlinkKafkaConsumerBase:
        """Begin at the first record of each partition."""
        return self._with(starting=OffsetRule("earliest", "earliest"))

    def set_start_from_latest(self) -> FlinkKafkaConsumerBase:
        """Begin at the end of each partition at the time when the job starts."""
        return self._with(starting=OffsetRule("latest", "latest"))

    def set_start_from_timestamp(self, startup_offsets_timestamp: int) -> FlinkKafkaConsumerBase:
        """Begin at the first record with this timestamp or a later one.

        Args:
            startup_offsets_timestamp: ms since the epoch.

        Raises:
            ValueError: the timestamp is negative, or in the future.
        """
        call = "set_start_from_timestamp(startup_offsets_timestamp)"
        since = argument(startup_offsets_timestamp, int, call)
        require(since >= 0, "The provided value for the startup offsets timestamp is invalid.")
        now = time.time_ns() // 1_000_000
        require(since <= now, f"Startup time[{since}] must be before current time[{now}].")
        return self._with(starting=OffsetRule("timestamp", "latest", since))

    def set_start_from_group_offsets(self) -> FlinkKafkaConsumerBase:
        """Begin at the offsets that the group has committed; the default."""
        return self._with(starting=_group_offsets(self._config.properties))

    def disable_filter_restored_partitions_with_subscribed_topics(self) -> FlinkKafkaConsumerBase:
        """Read all partitions of a restored checkpoint, even those of other topics."""
        return self._with(keeps_restored=True)

    def get_produced_type(self) -> TypeInformation:
        """Return the type of the elements."""
        return self._config.produced_type

    @property
    def _source(self) -> KafkaSplitSource:
        return KafkaSplitSource(self._config)

    def _with(self, **changes: object) -> FlinkKafkaConsumerBase:
        self._config = self._j_function = replace(self._config, **changes)
        return self


class FlinkKafkaConsumer(FlinkKafkaConsumerBase):
    """Reads Kafka topics; deprecated since PyFlink 1.16, use KafkaSource.

    Args:
        topics: a topic, or a list of topics.
        deserialization_schema: the deserializer of the records' values.
        properties: properties of Kafka's consumer.

    Raises:
        ValueError: the list of topics is empty.
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
        schema = argument(deserialization_schema, DeserializationSchema, call)
        given = properties_argument(properties, call)
        interval = given.pop(_DISCOVERY, "-1")
        # Kafka's consumer commits by default, and the old connector left it at that.
        given = {"enable.auto.commit": "true", **given, "partition.discovery.interval.ms": interval}
        super().__init__(
            KafkaSourceConfig(
                Subscription(topics=tuple(argument(name, str, call) for name in names)),
                _group_offsets(given),
                None,
                False,
                UserFunction.of(schema),
                schema._produced_type(),
                given,
                keeps_restored=False,
            )
        )


def _group_offsets(properties: Mapping[str, str]) -> OffsetRule:
    """Return the rule for the group's offsets, which a property completes."""
    reset = properties.get("auto.offset.reset", "latest")
    return OffsetRule("committed", _RESETS.get(reset, "none"))


class Semantic(Enum):
    """The guarantee of a FlinkKafkaProducer about records when the job fails.

    Attributes:
        EXACTLY_ONCE: each record is written once, in transactions.
        AT_LEAST_ONCE: each record is written, some possibly more than once.
        NONE: records may be lost or written more than once.
    """

    # The tuples are PyFlink's values.
    EXACTLY_ONCE = (0,)
    AT_LEAST_ONCE = (1,)
    NONE = 2


class FlinkKafkaProducerBase(SinkFunction, ABC):
    """The settings of a FlinkKafkaProducer.

    Args:
        j_flink_kafka_producer: made by the subclass.
    """

    def __init__(self, j_flink_kafka_producer):
        call = f"{type(self).__name__}(j_flink_kafka_producer)"
        self._config = own_handle(j_flink_kafka_producer, KafkaSinkConfig, call)
        self._flushes = True
        super().__init__(sink_func=j_flink_kafka_producer)

    def set_log_failures_only(self, log_failures_only: bool) -> FlinkKafkaProducerBase:
        """Set whether a record that cannot be written is only logged; by default the job fails."""
        call = "set_log_failures_only(log_failures_only)"
        return self._with(log_failures_only=argument(log_failures_only, bool, call))

    def set_flush_on_checkpoint(self, flush_on_checkpoint: bool) -> FlinkKafkaProducerBase:
        """Set whether a checkpoint waits for the records before it; by default yes."""
        call = "set_flush_on_checkpoint(flush_on_checkpoint)"
        self._flushes = argument(flush_on_checkpoint, bool, call)
        return self

    def set_write_timestamp_to_kafka(
        self, write_timestamp_to_kafka: bool
    ) -> FlinkKafkaProducerBase:
        """Set whether records get the elements' timestamps."""
        call = "set_write_timestamp_to_kafka(write_timestamp_to_kafka)"
        timestamped = argument(write_timestamp_to_kafka, bool, call)
        return self._with(records=replace(self._config.records, timestamped=timestamped))

    @property
    def _sink(self) -> KafkaRecordSink:
        if self._config.guarantee is Guarantee.AT_LEAST_ONCE and not self._flushes:
            return KafkaRecordSink(replace(self._config, guarantee=Guarantee.NONE))
        return KafkaRecordSink(self._config)

    def _with(self, **changes: object) -> Any:
        self._config = self._j_function = replace(self._config, **changes)
        return self


class FlinkKafkaProducer(FlinkKafkaProducerBase):
    """Writes to a Kafka topic; deprecated since PyFlink 1.16, use KafkaSink.

    Args:
        topic: the topic.
        serialization_schema: the serializer of the records' values.
        producer_config: properties of Kafka's producer.
        kafka_producer_pool_size: the number of open transactions, for EXACTLY_ONCE.
        semantic: what the sink promises about records when the job fails.

    Raises:
        ValueError: ``bootstrap.servers`` is missing, or the pool size is not positive.

    On Spark: the pool size has no effect; the driver writes one transaction at a time.
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
        name = argument(topic, str, call)
        schema = argument(serialization_schema, SerializationSchema, call)
        chosen_id = properties.pop("transactional.id", None)
        super().__init__(
            KafkaSinkConfig(
                RecordFormat(name, None, UserFunction.of(schema), timestamped=False),
                Guarantee[argument(semantic, Semantic, call).name],
                chosen_id or f"pyflink-on-spark-{name}",
                properties,
                id_has_place=chosen_id is None,
            )
        )

    def ignore_failures_after_transaction_timeout(self) -> FlinkKafkaProducer:
        """Only log when a transaction is too old to be committed after a restart.

        On Spark: no effect. A transaction begins when its checkpoint is complete, so no open
        transaction has to survive a restart.
        """
        return self
