# mypy: disable-error-code="empty-body"
"""Models of machine learning: names and signatures only."""

from __future__ import annotations

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._compat.unsupported import Gap, unsupported_class
from pyflink_on_spark.common import ConfigOption
from pyflink_on_spark.table.schema import Schema

__all__ = ["ModelDescriptor"]

_unsupported = unsupported_class(
    kind=Gap.NOT_YET,
    reason="SQL cannot call models",
    instead="Call the model in a Python function (udf, or func_type='pandas' for batches).",
)


@_unsupported
class ModelDescriptor:
    """A model of machine learning, which SQL calls."""

    def __init__(self, j_model_descriptor): ...

    @staticmethod
    def for_provider(provider: str) -> ModelDescriptor.Builder: ...

    def get_options(self) -> dict[str, str]: ...

    def get_input_schema(self) -> Schema | None: ...

    def get_output_schema(self) -> Schema | None: ...

    def get_comment(self) -> str | None: ...

    def __str__(self): ...

    def __eq__(self, other): ...

    def __hash__(self): ...

    @_unsupported
    class Builder:
        """Describes a model."""

        def __init__(self, j_builder): ...

        def input_schema(self, input_schema: Schema) -> ModelDescriptor.Builder: ...

        def output_schema(self, output_schema: Schema) -> ModelDescriptor.Builder: ...

        def option(self, key: str | ConfigOption, value) -> ModelDescriptor.Builder: ...

        def comment(self, comment: str) -> ModelDescriptor.Builder: ...

        def build(self) -> ModelDescriptor: ...


__getattr__ = missing_name(__name__)
