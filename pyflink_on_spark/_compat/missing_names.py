"""The error for a name that a module does not define.

PyFlink's modules have some names only because their own code imports them. Scripts import them from
there all the same: ``from pyflink.datastream.state import Types``. A
module of this package finds such a name when a script asks for it.
"""

from __future__ import annotations

import dis
import importlib
import sys
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any


def missing_name(module: str, reason: str = "") -> Callable[[str], object]:
    """Return a module's ``__getattr__``.

    It finds what PyFlink's module has by accident. Of other names it raises ImportError in
    ``from module import name``, since Python would replace the text of an AttributeError there,
    and AttributeError otherwise. A module may also call it in its own ``__getattr__``.

    Args:
        module: the module's ``__name__``.
        reason: why names are missing, in whole sentences, if there is one reason for all.
    """

    def __getattr__(name: str) -> object:  # noqa: N807 - it becomes the module's
        try:
            return accidental_name(module, name)
        except LookupError:
            pass
        text = _text(module, name, reason)
        if not name.startswith("__") and _is_import(sys._getframe(1)):
            raise ImportError(text, name=module)
        raise AttributeError(text, name=name, obj=sys.modules.get(module))

    return __getattr__


def _is_import(frame: Any) -> bool:
    while frame.f_code.co_name == "__getattr__":
        frame = frame.f_back
    code = frame.f_code.co_code
    return bool(dis.opname[code[frame.f_lasti]] == "IMPORT_FROM")


def _text(module: str, name: str, reason: str) -> str:
    known = [n for n in dir(sys.modules.get(module)) if not n.startswith("_")]
    close = get_close_matches(name, known, n=1)
    hint = f" Did you mean {close[0]}?" if close else ""
    missing = f"{module.replace('pyflink_on_spark', 'pyflink', 1)} has no {name!r}"
    if reason:
        return f"{missing} in pyflink_on_spark. {reason}{hint}"
    return (
        f"{missing} in pyflink_on_spark: "
        f"it is missing in PyFlink too, or not supported on Spark yet.{hint}"
    )


_PACKAGE = "pyflink_on_spark"

# Where a name comes from; a leading dot stands for this package. A name that is not here is that of
# a module: one below the module that is asked, or Python's own.
_ORIGINS = {
    "abc": "ABC ABCMeta abstractmethod",
    "datetime": "timedelta",
    "enum": "Enum",
    "inspect": "getmembers isclass isfunction",
    "io": "BytesIO",
    "itertools": "chain",
    "py4j.java_gateway": "JavaClass JavaObject get_java_class java_import",
    "py4j.protocol": "Py4JJavaError",
    ".common": "typeinfo",
    ".common.config_options": "ConfigOption ConfigOptions",
    ".common.configuration": "Configuration",
    ".common.constants": "MAX_LONG_VALUE MIN_LONG_VALUE",
    ".common.execution_config": "ExecutionConfig",
    ".common.io": "InputFormat",
    ".common.job_client": "JobClient",
    ".common.job_execution_result": "JobExecutionResult",
    ".common.serialization": (
        "BulkWriterFactory DeserializationSchema Encoder RowDataBulkWriterFactory "
        "SerializationSchema"
    ),
    ".common.serializer": "TypeSerializer",
    ".common.time": "Duration Time",
    ".common.typeinfo": (
        "BasicArrayTypeInfo ListTypeInfo MapTypeInfo ObjectArrayTypeInfo "
        "PrimitiveArrayTypeInfo RowTypeInfo TupleTypeInfo TypeInformation Types"
    ),
    ".common.types": "Row RowKind",
    ".common.utils": "JavaObjectWrapper",
    ".common.watermark_strategy": (
        "AssignerWithPeriodicWatermarksWrapper TimestampAssigner WatermarkStrategy"
    ),
    ".datastream": "async_retry_strategies",
    ".datastream.checkpoint_config": "CheckpointConfig",
    ".datastream.checkpointing_mode": "CheckpointingMode",
    ".datastream.connectors.base": "Sink Source StreamTransformer SupportsPreprocessing",
    ".datastream.connectors.file_system": "StreamFormat",
    ".datastream.data_stream": "DataStream",
    ".datastream.execution_mode": "RuntimeExecutionMode",
    ".datastream.formats.avro": "AvroRowDeserializationSchema AvroRowSerializationSchema",
    ".datastream.formats.csv": "CsvRowDeserializationSchema CsvRowSerializationSchema",
    ".datastream.formats.json": "JsonRowDeserializationSchema JsonRowSerializationSchema",
    ".datastream.functions": (
        "AggregateFunction AllWindowFunction AsyncFunctionDescriptor "
        "BroadcastProcessFunction CoFlatMapFunction CoMapFunction CoProcessFunction "
        "FilterFunction FlatMapFunction Function FunctionWrapper "
        "InternalIterableAllWindowFunction InternalIterableProcessAllWindowFunction "
        "InternalIterableProcessWindowFunction InternalIterableWindowFunction "
        "InternalSingleValueAllWindowFunction InternalSingleValueProcessAllWindowFunction "
        "InternalSingleValueProcessWindowFunction InternalSingleValueWindowFunction "
        "InternalWindowFunction KeySelector KeyedBroadcastProcessFunction "
        "KeyedCoProcessFunction KeyedProcessFunction MapFunction NullByteKeySelector "
        "Partitioner PassThroughAllWindowFunction PassThroughWindowFunction "
        "ProcessAllWindowFunction ProcessFunction ProcessWindowFunction ReduceFunction "
        "RuntimeContext SinkFunction SourceFunction WindowFunction"
    ),
    ".datastream.functions.process_functions": "IN1 IN2",
    ".datastream.functions.window_functions": "IN KEY OUT W W2",
    ".datastream.output_tag": "OutputTag",
    ".datastream.slot_sharing_group": "SlotSharingGroup",
    ".datastream.state": (
        "AggregatingStateDescriptor K ListStateDescriptor MapStateDescriptor ReducingState "
        "ReducingStateDescriptor StateDescriptor T V"
    ),
    ".datastream.utils": (
        "ResultTypeQueryable convert_to_python_obj create_hadoop_configuration "
        "create_java_properties"
    ),
    ".datastream.window": (
        "CountSlidingWindowAssigner CountTumblingWindowAssigner CountWindowSerializer "
        "GlobalWindowSerializer MergingWindowAssigner TimeWindowSerializer Trigger "
        "WindowAssigner WindowOperationDescriptor"
    ),
    ".java_gateway": "get_gateway",
    ".serializers": "PickleSerializer",
    ".util.api_stability_decorators": "Public",
    ".util.exceptions": "convert_py4j_exception",
    ".util.java_utils": (
        "add_jars_to_context_class_loader from_j_duration get_field get_field_value "
        "get_j_env_configuration invoke_method is_instance_of is_local_deployment "
        "load_java_class to_j_duration to_jarray"
    ),
    "typing": (
        "Any Callable Collection Dict Generic Iterable Iterator List Optional Set "
        "TYPE_CHECKING Tuple Type TypeVar Union cast overload"
    ),
    "typing_extensions": "override",
}

# Which names each module of PyFlink 2.3 has that it neither defines nor exports on purpose.
_NAMES = {
    "common": (
        "AvroRowDeserializationSchema AvroRowSerializationSchema "
        "CsvRowDeserializationSchema CsvRowSerializationSchema JsonRowDeserializationSchema "
        "JsonRowSerializationSchema constants io"
    ),
    "common.completable_future": "Py4JJavaError convert_py4j_exception",
    "common.execution_config": "Dict List get_gateway",
    "common.input_dependency_constraint": "get_gateway",
    "common.job_execution_result": "Dict",
    "common.job_status": "get_gateway",
    "common.restart_strategy": "Optional from_j_duration get_gateway get_java_class to_j_duration",
    "common.serialization": "get_gateway",
    "common.time": "get_gateway",
    "common.typeinfo": "Enum JavaClass JavaObject List Union calendar datetime get_gateway time",
    "common.types": "List get_gateway",
    "common.watermark_strategy": "get_gateway",
    "datastream": "formats utils",
    "datastream.async_data_stream": (
        "AsyncFunctionDescriptor DataStream async_retry_strategies get_gateway "
        "get_j_env_configuration"
    ),
    "datastream.async_retry_strategies": "List Optional",
    "datastream.checkpoint_config": "Optional",
    "datastream.checkpoint_storage": "Optional get_gateway get_java_class",
    "datastream.checkpointing_mode": "get_gateway",
    "datastream.connectors.base": "JavaObject Optional Union get_gateway",
    "datastream.connectors.cassandra": "get_gateway",
    "datastream.connectors.dynamic_kafka": "Dict JavaObject Set Union get_gateway",
    "datastream.connectors.elasticsearch": "List Union get_gateway to_jarray",
    "datastream.connectors.file_system": (
        "BulkWriterFactory Duration Encoder JavaObjectWrapper Optional "
        "RowDataBulkWriterFactory Sink SinkFunction Source StreamTransformer "
        "SupportsPreprocessing TYPE_CHECKING abstractmethod get_gateway is_instance_of "
        "to_jarray warnings"
    ),
    "datastream.connectors.hybrid_source": "JavaObject get_gateway",
    "datastream.connectors.jdbc": "get_gateway to_jarray",
    "datastream.connectors.kafka": (
        "ABC Any Callable DeserializationSchema Dict Enum JavaObject List Optional Row "
        "SerializationSchema Set Sink SinkFunction Source SourceFunction StreamTransformer "
        "SupportsPreprocessing TypeInformation Types Union abstractmethod get_field "
        "get_field_value get_gateway get_java_class to_jarray typeinfo warnings"
    ),
    "datastream.connectors.kinesis": (
        "AssignerWithPeriodicWatermarksWrapper DeserializationSchema Dict List "
        "SerializationSchema Sink SourceFunction Union get_gateway"
    ),
    "datastream.connectors.number_seq": "get_gateway",
    "datastream.connectors.pulsar": (
        "ConfigOption ConfigOptions DeserializationSchema Dict Duration Enum List Optional "
        "SerializationSchema Sink Source Union get_gateway load_java_class warnings"
    ),
    "datastream.connectors.rabbitmq": "get_gateway",
    "datastream.data_stream": (
        "AggregateFunction AggregatingStateDescriptor AllWindowFunction "
        "AsyncFunctionDescriptor BroadcastProcessFunction Callable CoFlatMapFunction "
        "CoMapFunction CoProcessFunction CountSlidingWindowAssigner "
        "CountTumblingWindowAssigner CountWindowSerializer Enum ExecutionConfig "
        "FilterFunction FlatMapFunction Function FunctionWrapper GlobalWindowSerializer "
        "InternalIterableAllWindowFunction InternalIterableProcessAllWindowFunction "
        "InternalIterableProcessWindowFunction InternalIterableWindowFunction "
        "InternalSingleValueAllWindowFunction InternalSingleValueProcessAllWindowFunction "
        "InternalSingleValueProcessWindowFunction InternalSingleValueWindowFunction "
        "InternalWindowFunction KeySelector KeyedBroadcastProcessFunction "
        "KeyedCoProcessFunction KeyedProcessFunction List ListStateDescriptor MapFunction "
        "MapStateDescriptor MergingWindowAssigner NullByteKeySelector Optional OutputTag "
        "Partitioner PassThroughAllWindowFunction PassThroughWindowFunction "
        "ProcessAllWindowFunction ProcessFunction ProcessWindowFunction ReduceFunction "
        "ReducingState ReducingStateDescriptor Row RowTypeInfo RuntimeContext Sink "
        "SinkFunction SlotSharingGroup StateDescriptor TimeWindowSerializer "
        "TimestampAssigner Trigger TypeInformation Types Union WatermarkStrategy "
        "WindowAssigner WindowFunction WindowOperationDescriptor cast convert_to_python_obj "
        "get_gateway get_j_env_configuration overload to_jarray typeinfo typing uuid"
    ),
    "datastream.execution_mode": "get_gateway",
    "datastream.externalized_checkpoint_retention": "get_gateway",
    "datastream.formats": "avro csv json",
    "datastream.formats.avro": (
        "JavaObject get_field_value get_gateway get_java_class java_import load_java_class"
    ),
    "datastream.formats.csv": (
        "BulkWriterFactory DeserializationSchema Optional RowDataBulkWriterFactory "
        "SerializationSchema StreamFormat TYPE_CHECKING TypeInformation get_gateway"
    ),
    "datastream.formats.json": "get_gateway typeinfo",
    "datastream.formats.orc": (
        "Optional TYPE_CHECKING create_hadoop_configuration create_java_properties "
        "get_gateway to_jarray"
    ),
    "datastream.formats.parquet": "Optional TYPE_CHECKING create_hadoop_configuration get_gateway",
    "datastream.functions": (
        "ABC Any Callable Enum Generic IN IN1 IN2 Iterable JavaObject KEY List OUT Optional "
        "TypeVar Union W W2 abstractmethod get_gateway"
    ),
    "datastream.output_tag": "Optional Union get_gateway",
    "datastream.slot_sharing_group": "Optional get_gateway",
    "datastream.state": (
        "ABC Dict Duration Enum Generic IN Iterable Iterator K List OUT Optional T Time "
        "Tuple TypeInformation TypeVar Types V abstractmethod"
    ),
    "datastream.state_backend": (
        "ABCMeta Enum List Optional get_gateway get_java_class load_java_class"
    ),
    "datastream.stream_execution_environment": (
        "Any CheckpointConfig CheckpointingMode Configuration DataStream ExecutionConfig "
        "InputFormat JavaObject JobClient JobExecutionResult List Optional PickleSerializer "
        "Public ResultTypeQueryable RuntimeExecutionMode SlotSharingGroup Source "
        "SourceFunction TypeInformation Types WatermarkStrategy "
        "add_jars_to_context_class_loader cast get_field_value get_gateway "
        "get_j_env_configuration invoke_method is_local_deployment os tempfile"
    ),
    "datastream.utils": (
        "BasicArrayTypeInfo ListTypeInfo MapTypeInfo ObjectArrayTypeInfo "
        "PrimitiveArrayTypeInfo Row RowKind RowTypeInfo TupleTypeInfo ast datetime "
        "get_gateway"
    ),
    "datastream.window": (
        "ABC Any BytesIO Collection Enum Generic IN Iterable KEY MAX_LONG_VALUE "
        "MIN_LONG_VALUE OUT Optional T TypeVar W W2 abstractmethod cast math"
    ),
    "serializers": "BytesIO Iterable T TypeSerializer TypeVar abstractmethod chain struct",
    "util": "api_stability_decorators exceptions java_utils",
    "util.api_stability_decorators": (
        "Callable Optional Type Union getmembers isclass isfunction override"
    ),
    "util.exceptions": "Py4JJavaError py4j",
    "util.java_utils": "JavaClass JavaObject Py4JJavaError get_gateway get_java_class timedelta",
}

_ORIGIN_OF = {name: origin for origin, names in _ORIGINS.items() for name in names.split()}
_NAMES_OF = {module: frozenset(names.split()) for module, names in _NAMES.items()}


def accidental_name(module: str, name: str) -> object:
    """Return the value of a name that a module of PyFlink has by accident.

    Args:
        module: the name of the module that stands for it.
        name: the name.

    Raises:
        LookupError: PyFlink's module does not have it either, or it needs what is not installed.
    """
    if name not in _NAMES_OF.get(module.removeprefix(_PACKAGE + "."), ()):
        raise LookupError(name)
    origin = _ORIGIN_OF.get(name)
    try:
        if origin is None:
            return _module(module, name)
        if origin.startswith("."):
            origin = _PACKAGE + origin
        return getattr(importlib.import_module(origin), name)
    except ImportError as error:
        raise LookupError(name) from error


def _module(module: str, name: str) -> object:
    below = f"{module}.{name}"
    try:
        return importlib.import_module(below)
    except ModuleNotFoundError as error:
        if error.name != below:
            raise
        return importlib.import_module(name)
