# mypy: disable-error-code="empty-body"
"""The methods of a TableEnvironment that raise: names and signatures only."""

from __future__ import annotations

from pyflink_on_spark._compat.unsupported import Gap, unsupported_class
from pyflink_on_spark.table.model_descriptor import ModelDescriptor
from pyflink_on_spark.table.module import Module


@unsupported_class(
    kind=Gap.NOT_YET,
    reason="SQL cannot call models",
    instead="Call models in Python functions, or store them in a Catalog.",
    known_as="TableEnvironment",
)
class NotYet:
    """Methods that may come later."""

    def create_model(
        self,
        model_path: str,
        model_descriptor: ModelDescriptor,
        ignore_if_exists: bool | None = False,
    ): ...

    def create_temporary_model(
        self,
        model_path: str,
        model_descriptor: ModelDescriptor,
        ignore_if_exists: bool | None = False,
    ): ...


@unsupported_class(
    kind=Gap.NEVER,
    reason="Java's functions and modules need Flink itself",
    instead="Write functions in Python.",
    known_as="TableEnvironment",
)
class NeedsFlink:
    """Methods that need Flink itself."""

    def load_module(self, module_name: str, module: Module): ...

    def create_java_temporary_system_function(self, name: str, function_class_name: str): ...

    def create_java_function(
        self, path: str, function_class_name: str, ignore_if_exists: bool | None = None
    ): ...

    def create_java_temporary_function(self, path: str, function_class_name: str): ...

    def register_java_function(self, name: str, function_class_name: str): ...
