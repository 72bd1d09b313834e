# mypy: disable-error-code="empty-body"
"""Descriptors of Flink 1.9: names and signatures only."""

from __future__ import annotations

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._compat.unsupported import Gap, unsupported_class
from pyflink_on_spark.table.table_schema import TableSchema
from pyflink_on_spark.table.types import DataType

__all__ = ["Rowtime", "Schema"]

_unsupported = unsupported_class(
    kind=Gap.NEVER,
    reason="the connectors that read it are gone from Flink since 1.14",
    instead="Use TableDescriptor and Schema of pyflink.table.",
)


@_unsupported
class Descriptor:
    """A description in the form of Flink 1.9."""

    def __init__(self, j_descriptor): ...

    def to_properties(self) -> dict: ...


@_unsupported
class Rowtime(Descriptor):
    """A rowtime attribute in the form of Flink 1.9."""

    def __init__(self): ...

    def timestamps_from_field(self, field_name: str): ...

    def timestamps_from_source(self) -> Rowtime: ...

    def timestamps_from_extractor(self, extractor: str) -> Rowtime: ...

    def watermarks_periodic_ascending(self) -> Rowtime: ...

    def watermarks_periodic_bounded(self, delay: int) -> Rowtime: ...

    def watermarks_from_source(self) -> Rowtime: ...

    def watermarks_from_strategy(self, strategy: str) -> Rowtime: ...


@_unsupported
class Schema(Descriptor):
    """Columns in the form of Flink 1.9."""

    def __init__(self, schema=None, fields=None, rowtime=None): ...

    def schema(self, table_schema: TableSchema) -> Schema: ...

    def field(self, field_name: str, field_type: DataType | str) -> Schema: ...

    def fields(self, fields: dict[str, DataType | str]) -> Schema: ...

    def from_origin_field(self, origin_field_name: str) -> Schema: ...

    def proctime(self) -> Schema: ...

    def rowtime(self, rowtime: Rowtime) -> Schema: ...


__getattr__ = missing_name(__name__)
