"""The settings with which a TableEnvironment is made."""

from __future__ import annotations

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._compat.recorded import note_former
from pyflink_on_spark._options.flink import (
    BATCH,
    BUILTIN_CATALOG,
    BUILTIN_DATABASE,
    RUNTIME_MODE,
)
from pyflink_on_spark.common import Configuration
from pyflink_on_spark.common.configuration import values_of

__all__ = ["EnvironmentSettings"]


class EnvironmentSettings:
    """The mode of an environment, and the names of its first catalog and database.

    Args:
        j_environment_settings: the options; use ``in_streaming_mode``, ``in_batch_mode`` or
            ``new_instance``.
    """

    class Builder:
        """Collects the settings; ``build`` returns them."""

        def __init__(self):
            self._configuration = Configuration()

        def with_configuration(self, config: Configuration) -> EnvironmentSettings.Builder:
            """Take over every key of a configuration."""
            self._configuration.add_all(config)
            return self

        def use_blink_planner(self) -> EnvironmentSettings.Builder:
            """Choose the planner that is the only one since PyFlink 1.14."""
            note_former("use_blink_planner()", "there is one planner")
            return self

        def use_any_planner(self) -> EnvironmentSettings.Builder:
            """Leave the planner open; there is one."""
            note_former("use_any_planner()", "there is one planner")
            return self

        def use_old_planner(self) -> EnvironmentSettings.Builder:
            """Choose the planner that is gone since PyFlink 1.14.

            On Spark: queries have the results of the other planner.
            """
            note_former("use_old_planner()", "there is one planner")
            return self

        def in_batch_mode(self) -> EnvironmentSettings.Builder:
            """Compute over inputs that end, and show the result at the end."""
            self._configuration.set_string(RUNTIME_MODE.key, "BATCH")
            return self

        def in_streaming_mode(self) -> EnvironmentSettings.Builder:
            """Compute as rows come; the default."""
            self._configuration.set_string(RUNTIME_MODE.key, "STREAMING")
            return self

        def with_built_in_catalog_name(
            self, built_in_catalog_name: str
        ) -> EnvironmentSettings.Builder:
            """Set the name of the first catalog."""
            self._configuration.set_string(BUILTIN_CATALOG.key, built_in_catalog_name)
            return self

        def with_built_in_database_name(
            self, built_in_database_name: str
        ) -> EnvironmentSettings.Builder:
            """Set the name of the first database."""
            self._configuration.set_string(BUILTIN_DATABASE.key, built_in_database_name)
            return self

        def build(self) -> EnvironmentSettings:
            """Return the settings."""
            return EnvironmentSettings(Configuration(self._configuration))

    def __init__(self, j_environment_settings):
        self._configuration: Configuration = j_environment_settings

    def get_built_in_catalog_name(self) -> str:
        """Return the name of the first catalog."""
        return BUILTIN_CATALOG.read(values_of(self._configuration))

    def get_built_in_database_name(self) -> str:
        """Return the name of the first database."""
        return BUILTIN_DATABASE.read(values_of(self._configuration))

    def is_streaming_mode(self) -> bool:
        """True if rows are computed as they arrive."""
        return RUNTIME_MODE.read(values_of(self._configuration)) != BATCH

    def is_blink_planner(self) -> bool:
        """True: the planner is the one that PyFlink 1.14 and later have."""
        return True

    def to_configuration(self) -> Configuration:
        """Return the options; the same as ``get_configuration``."""
        return self._configuration

    @staticmethod
    def from_configuration(config: Configuration) -> EnvironmentSettings:
        """Return the settings that some options describe."""
        return EnvironmentSettings.new_instance().with_configuration(config).build()

    def get_configuration(self) -> Configuration:
        """Return the options."""
        return self._configuration

    @staticmethod
    def new_instance() -> EnvironmentSettings.Builder:
        """Return a builder."""
        return EnvironmentSettings.Builder()

    @staticmethod
    def in_streaming_mode() -> EnvironmentSettings:
        """Return the settings for streaming mode."""
        return EnvironmentSettings.new_instance().in_streaming_mode().build()

    @staticmethod
    def in_batch_mode() -> EnvironmentSettings:
        """Return the settings for batch mode."""
        return EnvironmentSettings.new_instance().in_batch_mode().build()


__getattr__ = missing_name(__name__)
