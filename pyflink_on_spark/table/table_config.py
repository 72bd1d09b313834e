"""The options of a TableEnvironment."""

from __future__ import annotations

import datetime
import sys
from typing import Self

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._compat.recorded import note_former, note_recorded
from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._options.flink import CODE_LENGTH, LOCAL_TIME_ZONE, STATE_TTL
from pyflink_on_spark._options.option import duration_text
from pyflink_on_spark._options.python import EXECUTABLE
from pyflink_on_spark._sql.session.session import time_zone
from pyflink_on_spark.common import Configuration
from pyflink_on_spark.common.configuration import values_of
from pyflink_on_spark.table.sql_dialect import SqlDialect

__all__ = ["TableConfig"]

_LEAST_DIFFERENCE = datetime.timedelta(minutes=5)
_ROUNDING_MODES = frozenset(
    {"UP", "DOWN", "CEILING", "FLOOR", "HALF_UP", "HALF_DOWN", "HALF_EVEN", "UNNECESSARY"}
)


class TableConfig:
    """Options; those that are set here come before those of the StreamExecutionEnvironment.

    Args:
        j_table_config: a Configuration to share, or None.
    """

    def __init__(self, j_table_config=None):
        self._configuration = Configuration() if j_table_config is None else j_table_config
        self._null_check = True
        self._decimal_context = (34, "HALF_EVEN")

    def get(self, key: str, default_value: str) -> str:
        """Return an option, or a default where it is not set."""
        return self._configuration.get_string(key, default_value)

    def set(self, key: str, value: str) -> Self:
        """Set an option."""
        self._configuration.set_string(key, value)
        return self

    def get_local_timezone(self) -> str:
        """Return the name of the session's time zone."""
        return time_zone(LOCAL_TIME_ZONE.read(values_of(self._configuration)))

    def set_local_timezone(self, timezone_id: str):
        """Set the session's time zone, in which points in time are shown."""
        self.set(LOCAL_TIME_ZONE.key, timezone_id)

    def get_max_generated_code_length(self) -> int:
        """Return how long generated code may be."""
        return CODE_LENGTH.read(values_of(self._configuration))

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
        return datetime.timedelta(milliseconds=STATE_TTL.read(values_of(self._configuration)))

    def set_idle_state_retention(self, duration: datetime.timedelta):
        """Set how long state is kept that is not used; zero is without limit."""
        millis = round(duration.total_seconds() * 1000)
        self.set(STATE_TTL.key, duration_text(millis))

    def set_idle_state_retention_time(
        self, min_time: datetime.timedelta, max_time: datetime.timedelta
    ):
        """Set how long state is kept that is not used.

        Args:
            min_time: how long at least; this counts.
            max_time: how long at most; five minutes more than ``min_time`` or later.

        Raises:
            ValueError: the two are too close.
        """
        note_former("set_idle_state_retention_time(...)", "use set_idle_state_retention(duration)")
        if max_time - min_time < _LEAST_DIFFERENCE and (min_time or max_time):
            least, most = (
                f"{round(time.total_seconds() * 1000)} ms" for time in (min_time, max_time)
            )
            raise ValueError(
                f"Difference between minTime: {least} and maxTime: {most} should be at least "
                "5 minutes."
            )
        self.set_idle_state_retention(min_time)

    def get_min_idle_state_retention_time(self) -> int:
        """Return how long state is kept at least that is not used, in ms."""
        return STATE_TTL.read(values_of(self._configuration))

    def get_max_idle_state_retention_time(self) -> int:
        """Return how long state is kept at most that is not used, in ms."""
        return STATE_TTL.read(values_of(self._configuration)) * 3 // 2

    def get_null_check(self) -> bool:
        """True if values may be NULL."""
        return self._null_check

    def set_null_check(self, null_check: bool):
        """Set whether values may be NULL. On Spark: recorded; values may always be NULL.

        Raises:
            Exception: it is no bool.
        """
        if not isinstance(null_check, bool):
            raise Exception("TableConfig.null_check should be a bool value!")
        note_recorded("set_null_check(...)", "values may always be NULL")
        self._null_check = null_check

    def get_decimal_context(self) -> tuple[int, str]:
        """Return the number of digits, and how numbers are rounded."""
        return self._decimal_context

    def set_decimal_context(self, precision: int, rounding_mode: str):
        """Set how decimal numbers are rounded. On Spark: recorded, as with Flink's later planner.

        Args:
            precision: the number of digits.
            rounding_mode: ``HALF_UP`` for example.

        Raises:
            ValueError: there is no such mode.
        """
        if rounding_mode not in _ROUNDING_MODES:
            raise ValueError(f"Unsupported rounding_mode: {rounding_mode}")
        note_recorded("set_decimal_context(...)", "the types of the operands say it")
        self._decimal_context = precision, rounding_mode

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
