"""The sources of an environment."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pyflink_on_spark._connectors.builtin.collection import CollectionSource
from pyflink_on_spark._runtime.contract.connector import WatermarkRule
from pyflink_on_spark._runtime.types import ConversionError, plain_error, source_converter
from pyflink_on_spark.common import WatermarkStrategy
from pyflink_on_spark.common.typeinfo import PickledBytesTypeInfo, TypeInformation, Types
from pyflink_on_spark.datastream.connectors.file_system import FileSource, StreamFormat
from pyflink_on_spark.datastream.data_stream import DataStream
from pyflink_on_spark.datastream.data_stream.flow import add_operator
from pyflink_on_spark.datastream.stream_execution_environment.settings import GeneralSettings


class Sources(GeneralSettings):
    """The part of an environment that makes streams of sources."""

    def from_collection(
        self, collection: list[Any], type_info: TypeInformation | None = None
    ) -> DataStream:
        """Make a stream of the elements of a collection; it has one subtask.

        Args:
            collection: copied at once.
            type_info: the type of the elements; untyped if not given.

        Raises:
            ValueError: an element is not of the type.
            AttributeError: an element is not of the type, and that is a date, a time or an instant.
            TypeError: an element is not of the type, and that has no fields; or it cannot be
                pickled; or the type is ``Types.PICKLED_BYTE_ARRAY()``.
        """
        elements: Iterable[Any] = collection
        if type_info is not None:
            elements = _converted(collection, type_info)
        source = CollectionSource(elements, type_info)
        return self._from_runtime_source(source, "Collection Source", type_info)

    def from_source(
        self,
        source,
        watermark_strategy: WatermarkStrategy,
        source_name: str,
        type_info: TypeInformation | None = None,
    ) -> DataStream:
        """Make a stream of a source.

        Args:
            source: for example a FileSource or a NumberSequenceSource.
            watermark_strategy: how watermarks are made of the source's own timestamps; a
                TimestampAssigner in it has no effect here, as in PyFlink.
            source_name: the operator's name.
            type_info: the type of the elements, if it is not the source's own.
        """
        runtime_source = getattr(source, "_source", None)
        if runtime_source is None:
            raise TypeError(f"{type(source).__name__} is not a source that can be read from")
        runtime_source = runtime_source.with_watermarks(self._watermark_rule(watermark_strategy))
        declared = type_info or runtime_source.produced_type
        return self._from_runtime_source(runtime_source, source_name, declared)

    def add_source(
        self,
        source_func,
        source_name: str = "Custom Source",
        type_info: TypeInformation | None = None,
    ) -> DataStream:
        """Make a stream of an old-style source, for example a FlinkKafkaConsumer."""
        return self.from_source(
            source_func, WatermarkStrategy.no_watermarks(), source_name, type_info
        )

    def create_input(self, input_format, type_info: TypeInformation | None = None) -> DataStream:
        """Make a stream of an input format.

        Args:
            input_format: from ``datastream.formats``.
            type_info: the type of the elements, if it is not the format's own.
        """
        return self.from_source(
            input_format, WatermarkStrategy.no_watermarks(), "Custom File source", type_info
        )

    def read_text_file(self, file_path: str, charset_name: str = "UTF-8") -> DataStream:
        """Make a stream of the lines of a file or folder (removed in Flink 2)."""
        text = StreamFormat.text_line_format(charset_name)
        source = FileSource.for_record_stream_format(text, file_path).build()
        name = "Custom File Source"
        return self.from_source(source, WatermarkStrategy.no_watermarks(), name, Types.STRING())

    def _watermark_rule(self, strategy: WatermarkStrategy) -> WatermarkRule:
        spec = strategy._spec
        delay = None if spec.kind == "none" else spec.bound_ms
        return WatermarkRule(delay, spec.idle_timeout_ms)

    def _from_runtime_source(
        self, source: Any, name: str, type_info: TypeInformation | None
    ) -> DataStream:
        declared = Types.PICKLED_BYTE_ARRAY() if type_info is None else type_info
        parallelism = self._explicit_parallelism() if source.parallel else 1
        flow = add_operator(
            self,  # type: ignore[arg-type]
            name,
            None,
            (),
            declared,
            source=source,
            parallel=source.parallel,
            parallelism=parallelism,
        )
        return DataStream(flow)


def _converted(collection: Iterable[Any], type_info: TypeInformation) -> list[Any]:
    """Return elements in the form that functions see; raise Python's own errors, as PyFlink."""
    elements = list(collection)
    if elements and isinstance(type_info, PickledBytesTypeInfo):
        raise TypeError(
            "from_collection() reads no elements as PICKLED_BYTE_ARRAY: leave type_info out for "
            "elements of any type"
        )
    try:
        return list(map(source_converter(type_info), elements))
    except ConversionError as error:
        raise plain_error(error) from None
