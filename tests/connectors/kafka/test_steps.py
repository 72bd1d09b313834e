"""Each record is written to Kafka once, at whichever step a process fails."""

from __future__ import annotations

from functools import partial

import pytest

from pyflink_on_spark.common import SimpleStringSchema
from pyflink_on_spark.datastream.connectors import DeliveryGuarantee
from pyflink_on_spark.datastream.connectors.kafka import KafkaRecordSerializationSchema, KafkaSink
from tests.job.crash_points import chosen, run
from tests.job.simulated_world import World

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


class KafkaWorld(World):
    """One whose jobs write to a topic."""

    def __init__(self, folder, kafka, **options):
        super().__init__(folder, **options)
        self._kafka, self._topic = kafka, kafka.topic(1)

    def write(self, counted):
        records = KafkaRecordSerializationSchema.builder().set_topic(self._topic)
        sink = KafkaSink.builder().set_bootstrap_servers(self._kafka.servers)
        counted.sink_to(
            sink.set_record_serializer(
                records.set_value_serialization_schema(SimpleStringSchema()).build()
            )
            .set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
            .set_transactional_id_prefix("world")
            .build()
        ).uid("topic")

    def lines(self):
        """Return the committed records."""
        return [message.value().decode() for message in self._kafka.read(self._topic)]

    def outputs(self):
        return [self.lines()]


@pytest.mark.parametrize("cell", chosen("kafka"), ids=str)
def test_a_step(tmp_path, kafka, cell):
    run(cell, partial(KafkaWorld, tmp_path, kafka))
