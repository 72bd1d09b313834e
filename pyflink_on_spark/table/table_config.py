"""The options of a TableEnvironment."""

from __future__ import annotations

import datetime
import sys
from typing import Self

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._options.option_text import duration_text
from pyflink_on_spark._options.python import EXECUTABLE
from pyflink_on_spark._options.table import CODE_LENGTH, LOCAL_TIME_ZONE, STATE_TTL
from pyflink_on_spark._sql.session.session import time_zone
from pyflink_on_spark.common import Configuration
from pyflink_on_spark.table.sql_dialect import SqlDialect

__all__ = ["TableConfig"]


class TableConfig:
    """Options; those that are set here come before those of the StreamExecutionEnvironment.

    Args:
        j_table_config: a Configuration to share, or None.
    """

    def __init__(self, j_table_config=None):
        self._configuration = Configuration() if j_table_config is None else j_table_config

    def get(self, key: str, default_value: str) -> str:
        """Return an option, or a default where it is not set."""
        return self._configuration.get_string(key, default_value)

    def set(self, key: str, value: str) -> Self:
        """Set an option."""
        self._configuration.set_string(key, value)
        return self

    def get_local_timezone(self) -> str:
        """Return the name of the session's time zone."""
        return time_zone(self._configuration._read(LOCAL_TIME_ZONE))

    def set_local_timezone(self, timezone_id: str):
        """Set the session's time zone, in which points in time are shown."""
        self.set(LOCAL_TIME_ZONE.key, timezone_id)

    def get_max_generated_code_length(self) -> int:
        """Return how long generated code may be."""
        return self._configuration._read(CODE_LENGTH)

    def set_max_generated_code_length(self, max_generated_code_length: int):
        """Set how long generated code may be. On Spark: recorded; Python has no such limit."""
        self._configuration.set_integer(CODE_LENGTH.key, max_generated_code_length)

    def get_configuration(self) -> Configuration:
        """Return the options."""
        return self._configuration

    def add_configuration(self, configuration: Configuration):
        """Take over every key of a configuration."""
        self._configuration.add_all(configuration)

    def to_map(self) -> dict:
        """Return the options as a dict."""
        return self._configuration.to_dict()

    def get_idle_state_retention(self) -> datetime.timedelta:
        """Return how long state is kept that is not used; zero is without limit."""
        return datetime.timedelta(milliseconds=self._configuration._read(STATE_TTL))

    def set_idle_state_retention(self, duration: datetime.timedelta):
        """Set how long state is kept that is not used; zero is without limit."""
        millis = round(duration.total_seconds() * 1000)
        self.set(STATE_TTL.key, duration_text(millis))

    def get_sql_dialect(self) -> int:
        """Return the dialect of statements, a constant of SqlDialect."""
        return SqlDialect.DEFAULT

    def set_sql_dialect(self, sql_dialect: int):
        """Set the dialect of statements, a constant of SqlDialect.

        Raises:
            TypeError: it is no dialect.
            UnsupportedFlinkFeature: it is Hive's.
        """
        if sql_dialect == SqlDialect.HIVE:
            raise_unsupported(
                "set_sql_dialect(SqlDialect.HIVE)",
                kind=Gap.NEVER,
                reason="the parser of Hive's dialect is a library of Java",
                instead="Write the statements in Flink's own dialect.",
            )
        if sql_dialect != SqlDialect.DEFAULT:
            raise TypeError(
                f"Unsupported SQL dialect: {sql_dialect}, supported SQL dialects are: "
                "SqlDialect.DEFAULT, SqlDialect.HIVE."
            )

    def set_python_executable(self, python_exec: str):
        """Choose the interpreter of the workers.

        Args:
            python_exec: its path; also one inside an archive that was added before.

        On Spark: it counts when the first job of the process starts Spark.
        """
        self.set(EXECUTABLE.key, python_exec)

    def get_python_executable(self) -> str:
        """Return the interpreter that functions run in."""
        return self.get(EXECUTABLE.key, sys.executable)

    @staticmethod
    def get_default() -> TableConfig:
        """Return options of which none is set."""
        return TableConfig()


__getattr__ = missing_name(__name__)
