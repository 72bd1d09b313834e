"""Pulsar's topics as sources and sinks: what they can be told. Nothing reads them yet."""

from __future__ import annotations

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark.datastream.connectors.base import DeliveryGuarantee as DeliveryGuarantee
from pyflink_on_spark.datastream.connectors.pulsar.positions import (
    RangeGenerator,
    StartCursor,
    StopCursor,
)
from pyflink_on_spark.datastream.connectors.pulsar.schemas import (
    PulsarDeserializationSchema as PulsarDeserializationSchema,
)
from pyflink_on_spark.datastream.connectors.pulsar.schemas import (
    PulsarSerializationSchema as PulsarSerializationSchema,
)
from pyflink_on_spark.datastream.connectors.pulsar.sink import (
    MessageDelayer,
    PulsarSink,
    PulsarSinkBuilder,
    TopicRoutingMode,
)
from pyflink_on_spark.datastream.connectors.pulsar.source import (
    PulsarSource,
    PulsarSourceBuilder,
)
from pyflink_on_spark.datastream.connectors.pulsar.source import (
    SubscriptionType as SubscriptionType,
)

__all__ = [
    "PulsarSource",
    "PulsarSourceBuilder",
    "StartCursor",
    "StopCursor",
    "RangeGenerator",
    "PulsarSink",
    "PulsarSinkBuilder",
    "MessageDelayer",
    "TopicRoutingMode",
]

__getattr__ = missing_name(__name__)
