"""Type information: what a stream's elements are."""

from __future__ import annotations

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark.common.typeinfo.basic import BasicType as BasicType
from pyflink_on_spark.common.typeinfo.basic import BasicTypeInfo as BasicTypeInfo
from pyflink_on_spark.common.typeinfo.basic import InstantTypeInfo as InstantTypeInfo
from pyflink_on_spark.common.typeinfo.basic import PickledBytesTypeInfo as PickledBytesTypeInfo
from pyflink_on_spark.common.typeinfo.collections import BasicArrayTypeInfo as BasicArrayTypeInfo
from pyflink_on_spark.common.typeinfo.collections import ExternalTypeInfo as ExternalTypeInfo
from pyflink_on_spark.common.typeinfo.collections import ListTypeInfo as ListTypeInfo
from pyflink_on_spark.common.typeinfo.collections import MapTypeInfo as MapTypeInfo
from pyflink_on_spark.common.typeinfo.collections import ObjectArrayTypeInfo as ObjectArrayTypeInfo
from pyflink_on_spark.common.typeinfo.collections import (
    PrimitiveArrayTypeInfo as PrimitiveArrayTypeInfo,
)
from pyflink_on_spark.common.typeinfo.composite import RowTypeInfo as RowTypeInfo
from pyflink_on_spark.common.typeinfo.composite import TupleTypeInfo as TupleTypeInfo
from pyflink_on_spark.common.typeinfo.information import TypeInformation
from pyflink_on_spark.common.typeinfo.temporal import DateTypeInfo as DateTypeInfo
from pyflink_on_spark.common.typeinfo.temporal import LocalTimeTypeInfo as LocalTimeTypeInfo
from pyflink_on_spark.common.typeinfo.temporal import SqlTimeTypeInfo as SqlTimeTypeInfo
from pyflink_on_spark.common.typeinfo.temporal import TimestampTypeInfo as TimestampTypeInfo
from pyflink_on_spark.common.typeinfo.temporal import TimeTypeInfo as TimeTypeInfo
from pyflink_on_spark.common.typeinfo.types import Types

__all__ = ["TypeInformation", "Types"]

__getattr__ = missing_name(__name__)
