"""The source that reads Kinesis data streams."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pyflink_on_spark._compat.unsupported import JAVA_OBJECT, Gap, raise_unsupported, refuse_java
from pyflink_on_spark._connectors.kinesis.config import (
    KinesisSourceConfig,
    ShardAssignment,
    WatermarkSharing,
)
from pyflink_on_spark._connectors.kinesis.source import StreamsSource
from pyflink_on_spark.common import AssignerWithPeriodicWatermarksWrapper, DeserializationSchema
from pyflink_on_spark.common._java_handles import own_handle
from pyflink_on_spark.datastream.connectors._arguments import (
    argument,
    properties_argument,
    require,
)
from pyflink_on_spark.datastream.functions import SourceFunction


class KinesisShardAssigner:
    """Chooses the subtask that reads a shard.

    Args:
        j_kinesis_shard_assigner: made by the static methods of this class.
    """

    def __init__(self, j_kinesis_shard_assigner):
        call = "KinesisShardAssigner(j_kinesis_shard_assigner)"
        self._assignment = own_handle(j_kinesis_shard_assigner, ShardAssignment, call)

    @staticmethod
    def default_shard_assigner() -> KinesisShardAssigner:
        """Choose by the hash code of the shard."""
        return KinesisShardAssigner(ShardAssignment.BY_HASH)

    @staticmethod
    def uniform_shard_assigner() -> KinesisShardAssigner:
        """Choose by the shard's range of hash keys, so that all subtasks get equal shares."""
        return KinesisShardAssigner(ShardAssignment.UNIFORM)


class KinesisDeserializationSchema:
    """Makes elements of records and their metadata; in PyFlink always a Java object.

    Args:
        j_kinesis_deserialization_schema: a Java object.

    Raises:
        UnsupportedFlinkFeature: always, because there are no Java objects.
    """

    def __init__(self, j_kinesis_deserialization_schema):
        refuse_java(
            "KinesisDeserializationSchema(j_kinesis_deserialization_schema)",
            reason=JAVA_OBJECT,
            instead="Give FlinkKinesisConsumer a DeserializationSchema.",
        )


class WatermarkTracker:
    """Aligns subtasks: those that are ahead in event time wait for the others.

    Args:
        j_watermark_tracker: made by the static method of this class.
    """

    def __init__(self, j_watermark_tracker):
        call = "WatermarkTracker(j_watermark_tracker)"
        self._sharing = own_handle(j_watermark_tracker, WatermarkSharing, call)

    @staticmethod
    def job_manager_watermark_tracker(
        aggregate_name: str, log_accumulator_interval_millis: int = -1
    ) -> WatermarkTracker:
        """Share watermarks through the job's coordinator.

        Args:
            aggregate_name: the name of the shared aggregate.
            log_accumulator_interval_millis: the time between two log lines, in ms; -1 for none.
        """
        call = "job_manager_watermark_tracker(aggregate_name, log_accumulator_interval_millis)"
        name = argument(aggregate_name, str, call)
        interval = argument(log_accumulator_interval_millis, int, call)
        return WatermarkTracker(WatermarkSharing(name, interval))


class FlinkKinesisConsumer(SourceFunction):
    """Reads Kinesis data streams.

    Args:
        streams: a stream, or a list of streams.
        deserializer: the deserializer of the records.
        config_props: the properties of the client. ``aws.region`` or ``aws.endpoint`` is required.

    Raises:
        ValueError: there is no stream, or neither region nor endpoint.

    Example::

        properties = {"aws.region": "eu-west-1", "flink.stream.initpos": "TRIM_HORIZON"}
        clicks = env.add_source(FlinkKinesisConsumer("clicks", SimpleStringSchema(), properties))

    On Spark: needs boto3: ``pip install 'pyflink_on_spark[kinesis]'``. The timestamp of a record is
    its time of arrival. Watermarks of single shards and watermark trackers are not supported:
    assign watermarks after the source.
    """

    def __init__(
        self,
        streams: str | list[str],
        deserializer: DeserializationSchema | KinesisDeserializationSchema,
        config_props: dict[str, str],
    ):
        call = "FlinkKinesisConsumer(streams, deserializer, config_props)"
        names = [streams] if isinstance(streams, str) else argument(streams, list, call)
        require(names, "must be consuming at least 1 stream")
        require("" not in names, "stream names cannot be empty Strings")
        properties = properties_argument(config_props, call)
        require(
            "aws.region" in properties or "aws.endpoint" in properties,
            "For FlinkKinesisConsumer AWS region ('aws.region') and/or AWS endpoint "
            "('aws.endpoint') must be set in the config.",
        )
        self._config = KinesisSourceConfig(
            tuple(argument(name, str, call) for name in names),
            argument(deserializer, DeserializationSchema, call),
            properties,
        )
        super().__init__(self._config)

    def set_shard_assigner(self, shard_assigner: KinesisShardAssigner) -> FlinkKinesisConsumer:
        """Set which subtask reads a shard."""
        call = "set_shard_assigner(shard_assigner)"
        return self._with(
            assignment=argument(shard_assigner, KinesisShardAssigner, call)._assignment
        )

    def set_periodic_watermark_assigner(
        self, periodic_watermark_assigner: AssignerWithPeriodicWatermarksWrapper
    ) -> FlinkKinesisConsumer:
        """Set the watermark assigner of each shard."""
        call = "set_periodic_watermark_assigner(periodic_watermark_assigner)"
        kind = AssignerWithPeriodicWatermarksWrapper
        return self._with(watermarks=argument(periodic_watermark_assigner, kind, call))

    def set_watermark_tracker(self, watermark_tracker: WatermarkTracker) -> FlinkKinesisConsumer:
        """Set how subtasks are aligned in event time."""
        call = "set_watermark_tracker(watermark_tracker)"
        return self._with(sharing=argument(watermark_tracker, WatermarkTracker, call)._sharing)

    @property
    def _source(self) -> StreamsSource:
        for setter in ("periodic_watermark_assigner", "watermark_tracker"):
            told = self._config.watermarks if "periodic" in setter else self._config.sharing
            if told is not None:
                raise_unsupported(
                    f"FlinkKinesisConsumer.set_{setter}({setter})",
                    kind=Gap.NOT_YET,
                    reason="there are no watermarks of single shards",
                    instead="Use assign_timestamps_and_watermarks() after the source.",
                )
        return StreamsSource(self._config)

    def _with(self, **changes: Any) -> FlinkKinesisConsumer:
        self._config = self._j_function = replace(self._config, **changes)
        return self
