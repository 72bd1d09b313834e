"""The handle in place of the Java object that PyFlink's environment holds."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark.common import Configuration
from pyflink_on_spark.common._java_handles import own_handle


class EnvironmentHandle:
    """Holds an environment's configuration, for ``get_j_env_configuration``.

    Args:
        configuration: the environment's.
    """

    def __init__(self, configuration: Configuration) -> None:
        call = "StreamExecutionEnvironment(j_stream_execution_environment)"
        self.configuration = own_handle(configuration, Configuration, call)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise_unsupported(
            f"_j_stream_execution_environment.{name}",
            kind=Gap.NEVER,
            reason="it is a method of a Java object",
            instead="Use the methods of StreamExecutionEnvironment.",
        )
