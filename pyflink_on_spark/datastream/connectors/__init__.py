"""Sources and sinks."""

from __future__ import annotations

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark.datastream.connectors.base import DeliveryGuarantee, Sink, Source
from pyflink_on_spark.datastream.connectors.dynamic_kafka import (
    DynamicKafkaSource as DynamicKafkaSource,
)
from pyflink_on_spark.datastream.connectors.dynamic_kafka import (
    DynamicKafkaSourceBuilder as DynamicKafkaSourceBuilder,
)
from pyflink_on_spark.datastream.connectors.dynamic_kafka import (
    KafkaMetadataService as KafkaMetadataService,
)
from pyflink_on_spark.datastream.connectors.dynamic_kafka import (
    KafkaRecordDeserializationSchema as KafkaRecordDeserializationSchema,
)
from pyflink_on_spark.datastream.connectors.dynamic_kafka import (
    KafkaStreamSetSubscriber as KafkaStreamSetSubscriber,
)
from pyflink_on_spark.datastream.connectors.dynamic_kafka import (
    KafkaStreamSubscriber as KafkaStreamSubscriber,
)
from pyflink_on_spark.datastream.connectors.dynamic_kafka import (
    SingleClusterTopicMetadataService as SingleClusterTopicMetadataService,
)
from pyflink_on_spark.datastream.connectors.dynamic_kafka import (
    StreamPatternSubscriber as StreamPatternSubscriber,
)
from pyflink_on_spark.datastream.connectors.file_system import BucketAssigner as BucketAssigner
from pyflink_on_spark.datastream.connectors.file_system import (
    FileEnumeratorProvider as FileEnumeratorProvider,
)
from pyflink_on_spark.datastream.connectors.file_system import FileSink as FileSink
from pyflink_on_spark.datastream.connectors.file_system import FileSource as FileSource
from pyflink_on_spark.datastream.connectors.file_system import (
    FileSourceBuilder as FileSourceBuilder,
)
from pyflink_on_spark.datastream.connectors.file_system import (
    FileSplitAssignerProvider as FileSplitAssignerProvider,
)
from pyflink_on_spark.datastream.connectors.file_system import OutputFileConfig as OutputFileConfig
from pyflink_on_spark.datastream.connectors.file_system import RollingPolicy as RollingPolicy
from pyflink_on_spark.datastream.connectors.file_system import StreamFormat as StreamFormat
from pyflink_on_spark.datastream.connectors.file_system import (
    StreamingFileSink as StreamingFileSink,
)
from pyflink_on_spark.datastream.connectors.jdbc import (
    JdbcConnectionOptions as JdbcConnectionOptions,
)
from pyflink_on_spark.datastream.connectors.jdbc import JdbcExecutionOptions as JdbcExecutionOptions
from pyflink_on_spark.datastream.connectors.jdbc import JdbcSink as JdbcSink
from pyflink_on_spark.datastream.connectors.kafka import FlinkKafkaConsumer as FlinkKafkaConsumer
from pyflink_on_spark.datastream.connectors.kafka import (
    FlinkKafkaConsumerBase as FlinkKafkaConsumerBase,
)
from pyflink_on_spark.datastream.connectors.kafka import FlinkKafkaProducer as FlinkKafkaProducer
from pyflink_on_spark.datastream.connectors.kafka import (
    FlinkKafkaProducerBase as FlinkKafkaProducerBase,
)
from pyflink_on_spark.datastream.connectors.kafka import KafkaSource as KafkaSource
from pyflink_on_spark.datastream.connectors.kafka import Semantic as Semantic
from pyflink_on_spark.datastream.connectors.number_seq import (
    NumberSequenceSource as NumberSequenceSource,
)
from pyflink_on_spark.datastream.connectors.pulsar import (
    PulsarDeserializationSchema as PulsarDeserializationSchema,
)
from pyflink_on_spark.datastream.connectors.pulsar import PulsarSource as PulsarSource
from pyflink_on_spark.datastream.connectors.pulsar import PulsarSourceBuilder as PulsarSourceBuilder
from pyflink_on_spark.datastream.connectors.pulsar import StartCursor as StartCursor
from pyflink_on_spark.datastream.connectors.pulsar import StopCursor as StopCursor
from pyflink_on_spark.datastream.connectors.pulsar import SubscriptionType as SubscriptionType
from pyflink_on_spark.datastream.connectors.rabbitmq import (
    RMQConnectionConfig as RMQConnectionConfig,
)
from pyflink_on_spark.datastream.connectors.rabbitmq import RMQSink as RMQSink
from pyflink_on_spark.datastream.connectors.rabbitmq import RMQSource as RMQSource

__all__ = ["Sink", "Source", "DeliveryGuarantee"]

__getattr__ = missing_name(__name__)
