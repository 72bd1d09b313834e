"""PyFlink's access to Java objects, of which there are none on Spark."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported, unsupported
from pyflink_on_spark.common.configuration import Configuration


def _needs_jvm(instead: str) -> Callable[[Callable[..., object]], object]:
    def mark(signature: Callable[..., object]) -> object:
        return unsupported(
            signature, kind=Gap.NEVER, reason="it works on Java objects", instead=instead
        )

    return mark


@_needs_jvm("Use a Python list.")
def to_jarray(j_type: object, arr: object) -> Any:
    """Make a Java array of a list. On Spark: raises."""


@_needs_jvm("Import a Python class in its place.")
def load_java_class(class_name: object) -> Any:
    """Load a Java class by its name. On Spark: raises."""


@_needs_jvm("Use isinstance() with a Python class.")
def is_instance_of(java_object: object, java_class: object) -> Any:
    """True if a Java object has a Java class. On Spark: raises."""


@_needs_jvm("Use the getters of the Python object.")
def get_field_value(java_obj: object, field_name: object) -> Any:
    """Read a private field of a Java object. On Spark: raises."""


@_needs_jvm("Use the getters of the Python object.")
def get_field(cls: object, field_name: object) -> Any:
    """Return a private field of a Java class. On Spark: raises."""


@_needs_jvm("Use a Duration or a timedelta.")
def to_j_duration(time_delta: object) -> Any:
    """Make a Java duration of a timedelta. On Spark: raises."""


@_needs_jvm("Use a Duration or a timedelta.")
def from_j_duration(j_duration: object) -> Any:
    """Make a timedelta of a Java duration. On Spark: raises."""


@_needs_jvm("Look at the options of the Configuration.")
def is_local_deployment(j_configuration: object) -> Any:
    """True for the Java configuration of a local cluster. On Spark: raises."""


@_needs_jvm("A Python class is imported from a folder on sys.path.")
def create_url_class_loader(urls: object, parent_class_loader: object) -> Any:
    """Make a Java class loader. On Spark: raises."""


@_needs_jvm("Call the method of the Python object.")
def invoke_method(
    obj: object,
    object_type: object,
    method_name: object,
    args: object = None,
    arg_types: object = None,
) -> Any:
    """Call a private method of a Java object. On Spark: raises."""


@_needs_jvm(
    "A connector's jar for Spark is named in the option spark.jars, or with spark-submit --jars."
)
def add_jars_to_context_class_loader(jar_urls: object) -> Any:
    """Load jars into Flink's JVM. On Spark: raises."""


def get_j_env_configuration(j_env: object) -> Any:
    """Return the configuration of an environment.

    ``Configuration(j_configuration=...)`` of it is a view: what is set there the environment sees.

    Args:
        j_env: ``env._j_stream_execution_environment``.

    On Spark: the result is this package's own ``Configuration``.
    """
    configuration = getattr(j_env, "configuration", None)
    if not isinstance(configuration, Configuration):
        raise_unsupported(
            f"get_j_env_configuration({type(j_env).__name__})",
            kind=Gap.NEVER,
            reason="there is no Java object to read",
            instead="Pass env._j_stream_execution_environment.",
        )
    return configuration


__getattr__ = missing_name(__name__)
