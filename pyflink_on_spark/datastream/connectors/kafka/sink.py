"""The sink that writes to Kafka topics."""

from __future__ import annotations

from dataclasses import dataclass, field

from pyflink_on_spark._connectors.kafka.sink import Guarantee, KafkaRecordSink, KafkaSinkConfig
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
    RecordFormat,
)

_LONGEST_PREFIX = 64_000


@dataclass(frozen=True)
class KafkaSinkOptions:
    """What a Kafka sink was told.

    Attributes:
        records: how records are made.
        guarantee: what happens to records when the job fails.
        transactional_id_prefix: what the names of transactions begin with, for exactly once.
        properties: the client's properties, as they were given.
    """

    records: RecordFormat
    guarantee: DeliveryGuarantee
    transactional_id_prefix: str | None
    properties: dict[str, str] = field(repr=False)

    def _runtime(self) -> KafkaRecordSink:
        """Return what writes."""
        guarantee = Guarantee[self.guarantee.name]
        prefix = self.transactional_id_prefix or ""
        return KafkaRecordSink(KafkaSinkConfig(self.records._rule(), guarantee, prefix, self.properties))


class KafkaSink(Sink, SupportsPreprocessing):
    """Writes to Kafka topics; made with ``builder()``.

    Args:
        j_kafka_sink: what the sink was told.
        transformer: a step in front of the sink.

    On Spark: written with confluent-kafka, which ``pip install 'pyflink_on_spark[kafka]'`` brings
    along. With EXACTLY_ONCE records are kept, packed, until a checkpoint is safe (without
    checkpoints: to the job's end), and are part of it; then the driver writes those of all subtasks
    in one transaction. So they pass the driver's memory, and readers see them all at once. Which
    checkpoints are written is kept as the offset of a consumer group, the prefix with ``-written``.
    Two sinks of one job with the same prefix are refused.
    """

    def __init__(self, j_kafka_sink, transformer: StreamTransformer | None = None):
        self._options = own_handle(j_kafka_sink, KafkaSinkOptions, "KafkaSink(j_kafka_sink)")
        super().__init__(self._options._runtime())
        self._transformer = transformer

    @staticmethod
    def builder() -> KafkaSinkBuilder:
        """Begin with a sink that guarantees nothing."""
        return KafkaSinkBuilder()

    def get_transformer(self) -> StreamTransformer | None:
        """Return the step in front of the sink, or None."""
        return self._transformer


class KafkaSinkBuilder:
    """Says how a Kafka sink writes. Servers and the record serializer have to be set."""

    def __init__(self):
        self._properties: dict[str, str] = {}
        self._guarantee = DeliveryGuarantee.NONE
        self._prefix: str | None = None
        self._serializer: KafkaRecordSerializationSchema | None = None

    def build(self) -> KafkaSink:
        """Return the sink.

        Raises:
            ValueError: something that has to be set is not.
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
        options = KafkaSinkOptions(
            self._serializer._format, self._guarantee, self._prefix, dict(self._properties)
        )
        return KafkaSink(options, self._serializer._preprocessing())

    def set_bootstrap_servers(self, bootstrap_servers: str) -> KafkaSinkBuilder:
        """Set where the cluster is found: ``host:port``, several with commas."""
        servers = argument(bootstrap_servers, str, "set_bootstrap_servers(bootstrap_servers)")
        return self.set_property("bootstrap.servers", servers)

    def set_delivery_guarantee(self, delivery_guarantee: DeliveryGuarantee) -> KafkaSinkBuilder:
        """Set what happens to records when the job fails; NONE without this."""
        call = "set_delivery_guarantee(delivery_guarantee)"
        self._guarantee = argument(delivery_guarantee, DeliveryGuarantee, call)
        return self

    def set_transactional_id_prefix(self, transactional_id_prefix: str) -> KafkaSinkBuilder:
        """Set what the names of transactions begin with, for EXACTLY_ONCE.

        Keep it from one run of the job to the next, so that what a failed run left open is ended.

        Raises:
            ValueError: it is longer than 64,000 bytes.
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
