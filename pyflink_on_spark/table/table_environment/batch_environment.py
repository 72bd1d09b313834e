"""The environment of batch programs of PyFlink 1.13 and earlier."""

from __future__ import annotations

from pyflink_on_spark._compat.recorded import note_former
from pyflink_on_spark.dataset import ExecutionEnvironment
from pyflink_on_spark.table.descriptors import ConnectorDescriptor, ConnectTableDescriptor
from pyflink_on_spark.table.environment_settings import EnvironmentSettings
from pyflink_on_spark.table.table_config import TableConfig
from pyflink_on_spark.table.table_environment.environment import TableEnvironment
from pyflink_on_spark.table.table_environment.former_methods import former_config


class BatchTableEnvironment(TableEnvironment):
    """Plans and runs queries over tables that end.

    Args:
        j_tenv: use ``create``.
    """

    def __init__(self, j_tenv):
        super().__init__(j_tenv)

    def connect(self, connector_descriptor: ConnectorDescriptor) -> ConnectTableDescriptor:
        """Describe a table by what it connects to; see ``TableEnvironment.connect``."""
        return super().connect(connector_descriptor)

    @staticmethod
    def create(  # type: ignore[override]
        execution_environment: ExecutionEnvironment = None,
        table_config: TableConfig = None,
        environment_settings: EnvironmentSettings = None,
    ) -> BatchTableEnvironment:
        """Return a new environment.

        Args:
            execution_environment: its parallelism and other settings.
            table_config: its options; together with ``execution_environment`` only.
            environment_settings: its mode and options; not together with the others.

        Raises:
            ValueError: nothing was given, or what cannot be together; or the settings are for
                streaming mode.
        """
        note_former("BatchTableEnvironment", "use TableEnvironment.create")
        environment, settings = execution_environment, environment_settings
        settings, config = former_config(settings, table_config, environment)
        if environment is None and settings is None:
            raise ValueError(
                "No argument found, the param 'execution_environment' or 'environment_settings' "
                "is required."
            )
        if environment is not None and settings is not None:
            raise ValueError(
                "The param 'execution_environment' and 'environment_settings' cannot be used at "
                "the same time"
            )
        if settings is not None and settings.is_streaming_mode():
            raise ValueError(
                "The environment settings for BatchTableEnvironment must be set to batch mode."
            )
        if environment is None:
            environment = ExecutionEnvironment.get_execution_environment()
        if settings is None:
            settings = EnvironmentSettings.in_batch_mode()
        return BatchTableEnvironment((environment._environment, settings, False, *config))
