"""The sink that writes to Kafka topics."""

from __future__ import annotations

from pyflink_on_spark._connectors.kafka.config import Guarantee, KafkaSinkConfig
from pyflink_on_spark._connectors.kafka.sink import KafkaRecordSink
from pyflink_on_spark.common._java_handles import own_handle
from pyflink_on_spark.datastream.connectors._arguments import (
    argument,
    properties_argument,
    require,
)
from pyflink_on_spark.datastream.connectors.base import (
    DeliveryGuarantee,
    Sink,
    StreamTransformer,
    SupportsPreprocessing,
)
from pyflink_on_spark.datastream.connectors.kafka.record_serialization import (
    KafkaRecordSerializationSchema,
)

_LONGEST_PREFIX = 64_000


class KafkaSink(Sink, SupportsPreprocessing):
    """Writes to Kafka topics; made with ``builder()``.

    Args:
        j_kafka_sink: made by the builder.
        transformer: the transformation before the sink.

    Example::

        sink = (
            KafkaSink.builder()
            .set_bootstrap_servers("broker:9092")
            .set_record_serializer(serializer)
            .set_delivery_guarantee(DeliveryGuarantee.AT_LEAST_ONCE)
            .build()
        )
        orders.sink_to(sink)

    On Spark: needs confluent-kafka: ``pip install 'pyflink_on_spark[kafka]'``. With EXACTLY_ONCE
    records are part of the checkpoint; when it is complete, the driver writes the records of all
    subtasks in one transaction. Checkpoints without a folder need the driver's memory for the
    records. Without checkpoints the driver writes all records when the job ends. The consumer group
    ``<prefix>-written`` stores which checkpoints are written. Two sinks of one job with the same
    prefix are refused.
    """

    def __init__(self, j_kafka_sink, transformer: StreamTransformer | None = None):
        self._config = own_handle(j_kafka_sink, KafkaSinkConfig, "KafkaSink(j_kafka_sink)")
        super().__init__(KafkaRecordSink(self._config))
        self._transformer = transformer

    @staticmethod
    def builder() -> KafkaSinkBuilder:
        """Return a builder of a sink without a guarantee."""
        return KafkaSinkBuilder()

    def get_transformer(self) -> StreamTransformer | None:
        """Return the transformation before the sink, or None."""
        return self._transformer


class KafkaSinkBuilder:
    """Configures a Kafka sink. Servers and the record serializer are required."""

    def __init__(self):
        self._properties: dict[str, str] = {}
        self._guarantee = DeliveryGuarantee.NONE
        self._prefix: str | None = None
        self._serializer: KafkaRecordSerializationSchema | None = None

    def build(self) -> KafkaSink:
        """Return the sink.

        Raises:
            ValueError: a required setting is missing.
        """
        require("bootstrap.servers" in self._properties, "bootstrapServers are not set")
        exactly_once = self._guarantee is DeliveryGuarantee.EXACTLY_ONCE
        require(
            not exactly_once or self._prefix is not None,
            "EXACTLY_ONCE delivery guarantee requires a transactionalIdPrefix to be set, which "
            "no other sink of the same Kafka cluster has.",
        )
        if self._serializer is None:
            raise ValueError("recordSerializer is not set")
        config = KafkaSinkConfig(
            self._serializer._format,
            Guarantee[self._guarantee.name],
            self._prefix or "",
            dict(self._properties),
        )
        return KafkaSink(config, self._serializer._preprocessing())

    def set_bootstrap_servers(self, bootstrap_servers: str) -> KafkaSinkBuilder:
        """Set the addresses of the cluster: ``host:port``, separated by commas."""
        servers = argument(bootstrap_servers, str, "set_bootstrap_servers(bootstrap_servers)")
        return self.set_property("bootstrap.servers", servers)

    def set_delivery_guarantee(self, delivery_guarantee: DeliveryGuarantee) -> KafkaSinkBuilder:
        """Set what the sink promises about records when the job fails; by default NONE."""
        call = "set_delivery_guarantee(delivery_guarantee)"
        self._guarantee = argument(delivery_guarantee, DeliveryGuarantee, call)
        return self

    def set_transactional_id_prefix(self, transactional_id_prefix: str) -> KafkaSinkBuilder:
        """Set the transactional id of the sink, for EXACTLY_ONCE.

        Keep the prefix from one run of the job to the next: the next run aborts a transaction that
        a failed run has left open.

        Raises:
            ValueError: the prefix is longer than 64,000 bytes.
        """
        call = "set_transactional_id_prefix(transactional_id_prefix)"
        prefix = argument(transactional_id_prefix, str, call)
        require(
            len(prefix.encode()) <= _LONGEST_PREFIX,
            "The configured prefix is too long and the resulting transactionalId might exceed "
            "Kafka's transactionalIds size.",
        )
        self._prefix = prefix
        return self

    def set_record_serializer(
        self, record_serializer: KafkaRecordSerializationSchema
    ) -> KafkaSinkBuilder:
        """Set how elements become records."""
        call = "set_record_serializer(record_serializer)"
        self._serializer = argument(record_serializer, KafkaRecordSerializationSchema, call)
        return self

    def set_property(self, key: str, value: str) -> KafkaSinkBuilder:
        """Set a property of Kafka's producer."""
        self._properties.update(properties_argument({key: value}, "set_property(key, value)"))
        return self
