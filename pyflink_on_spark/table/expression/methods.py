"""Methods of expressions on times and on JSON."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._sql.syntax import expressions as syntax
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import Root
from pyflink_on_spark.common.data_types import DataType, DataTypes
from pyflink_on_spark.table.expression.parts import Operand, function

if TYPE_CHECKING:
    from pyflink_on_spark.table.expression.expression import Expression


class JsonType(enum.Enum):
    """Kinds of JSON."""

    VALUE = (0,)
    SCALAR = (1,)
    ARRAY = (2,)
    OBJECT = 3


class JsonExistsOnError(enum.Enum):
    """The result of ``json_exists`` for errors."""

    TRUE = (0,)
    FALSE = (1,)
    UNKNOWN = (2,)
    ERROR = 3


class JsonValueOnEmptyOrError(enum.Enum):
    """The result of ``json_value`` for errors and for empty results."""

    NULL = (0,)
    ERROR = (1,)
    DEFAULT = 2


class JsonQueryWrapper(enum.Enum):
    """The array around the results of ``json_query``: none, always, or if needed."""

    WITHOUT_ARRAY = (0,)
    CONDITIONAL_ARRAY = (1,)
    UNCONDITIONAL_ARRAY = 2


class JsonQueryOnEmptyOrError(enum.Enum):
    """The result of ``json_query`` for errors and for empty results."""

    NULL = (0,)
    EMPTY_ARRAY = (1,)
    EMPTY_OBJECT = (2,)
    ERROR = 3


class JsonOnNull(enum.Enum):
    """The treatment of NULL in JSON."""

    NULL = (0,)
    ABSENT = 1


class JsonMethods(Operand):
    """The methods of JSON."""

    def is_json(self, json_type: JsonType = None) -> Expression[bool]:
        """True if the text is JSON of a certain kind."""
        kind = "VALUE" if json_type is None else json_type.name
        return self._of("IS JSON", symbols=(kind,))

    def json_quote(self) -> Expression:
        """Return a text as a string of JSON."""
        return self._of("JSON_QUOTE")

    def json_unquote(self) -> Expression:
        """Return the text that a string of JSON stands for."""
        return self._of("JSON_UNQUOTE")

    def json_exists(self, path: str, on_error: JsonExistsOnError = None) -> Expression[bool]:
        """True if the path exists in the document.

        Args:
            path: the path.
            on_error: the result for errors; False if not given.
        """
        symbols = () if on_error is None else (on_error.name,)
        return self._of("JSON_EXISTS", path, symbols=symbols)

    def json_value(
        self,
        path: str,
        returning_type: DataType = DataTypes.STRING(),
        on_empty: JsonValueOnEmptyOrError = JsonValueOnEmptyOrError.NULL,
        default_on_empty: object = None,
        on_error: JsonValueOnEmptyOrError = JsonValueOnEmptyOrError.NULL,
        default_on_error: object = None,
    ) -> Expression:
        """Return the scalar that a path leads to.

        Args:
            path: the path.
            returning_type: the type of the result.
            on_empty: what happens where there is nothing.
            default_on_empty: the result then.
            on_error: what happens about errors.
            default_on_error: the result then.
        """
        from pyflink_on_spark.table.expression.parts import logical_type

        root = logical_type(returning_type).root
        names = {Root.VARCHAR: "STRING", Root.BOOLEAN: "BOOLEAN", Root.INT: "INTEGER",
                 Root.BIGINT: "BIGINT", Root.DOUBLE: "DOUBLE"}  # fmt: skip
        defaults = []
        if on_empty is JsonValueOnEmptyOrError.DEFAULT:
            defaults.append(default_on_empty)
        if on_error is JsonValueOnEmptyOrError.DEFAULT:
            defaults.append(default_on_error)
        symbols = (names[root], on_empty.name, on_error.name)
        return self._of("JSON_VALUE", path, *defaults, symbols=symbols)

    def json_query(
        self,
        path: str,
        wrapping_behavior=JsonQueryWrapper.WITHOUT_ARRAY,
        on_empty=JsonQueryOnEmptyOrError.NULL,
        on_error=JsonQueryOnEmptyOrError.NULL,
    ) -> Expression:
        """Return the object or the array that a path leads to.

        Args:
            path: the path.
            wrapping_behavior: the array around the result.
            on_empty: the result where there is nothing.
            on_error: the result for errors.
        """
        wrapper = wrapping_behavior.name.partition("_")[0]
        behaviours = (each.name.replace("_", " ") for each in (on_empty, on_error))
        return self._of("JSON_QUERY", path, symbols=(wrapper, *behaviours))


_SECOND = 1_000_000
_MICROS = {
    "millis": 1000,
    "seconds": _SECOND,
    "minutes": 60 * _SECOND,
    "hours": 3600 * _SECOND,
    "days": 86400 * _SECOND,
    "weeks": 7 * 86400 * _SECOND,
}
_MONTHS = {"months": 1, "quarters": 3, "years": 12}


class TimeIntervalUnit(enum.Enum):
    """Units of time, for ``extract``, ``floor`` and ``ceil``."""

    YEAR = (0,)
    YEAR_TO_MONTH = (1,)
    QUARTER = (2,)
    MONTH = (3,)
    WEEK = (4,)
    DAY = (5,)
    DAY_TO_HOUR = (6,)
    DAY_TO_MINUTE = (7,)
    DAY_TO_SECOND = (8,)
    HOUR = (9,)
    SECOND = (10,)
    HOUR_TO_MINUTE = (11,)
    HOUR_TO_SECOND = (12,)
    MINUTE = (13,)
    MINUTE_TO_SECOND = 14


class TimePointUnit(enum.Enum):
    """Units of time, for ``timestamp_diff``."""

    YEAR = (0,)
    MONTH = (1,)
    DAY = (2,)
    HOUR = (3,)
    MINUTE = (4,)
    SECOND = (5,)
    QUARTER = (6,)
    WEEK = (7,)
    MILLISECOND = (8,)
    MICROSECOND = 9


def _interval(name: str, document: str) -> object:
    def get(self: Operand) -> Expression:
        months = name in _MONTHS
        factor = _MONTHS[name] if months else _MICROS[name]
        kind = logical.INTERVAL_MONTH if months else logical.INTERVAL_SECOND
        kind = kind.with_nullable(False)
        written = self._unresolved
        if isinstance(written, syntax.Literal) and written.type.root in logical.INTEGERS:
            return self._new(syntax.Literal(written.value * factor, kind))
        return self._of("*", self._new(syntax.Literal(factor, kind)))

    return property(get, doc=document)


class TimeMethods(Operand):
    """The methods of dates, times and intervals."""

    year = _interval("years", "It as an interval of years.")
    years = _interval("years", "It as an interval of years.")
    quarter = _interval("quarters", "It as an interval of quarters.")
    quarters = _interval("quarters", "It as an interval of quarters.")
    month = _interval("months", "It as an interval of months.")
    months = _interval("months", "It as an interval of months.")
    week = _interval("weeks", "It as an interval of weeks.")
    weeks = _interval("weeks", "It as an interval of weeks.")
    day = _interval("days", "It as an interval of days.")
    days = _interval("days", "It as an interval of days.")
    hour = _interval("hours", "It as an interval of hours.")
    hours = _interval("hours", "It as an interval of hours.")
    minute = _interval("minutes", "It as an interval of minutes.")
    minutes = _interval("minutes", "It as an interval of minutes.")
    second = _interval("seconds", "It as an interval of seconds.")
    seconds = _interval("seconds", "It as an interval of seconds.")
    milli = _interval("millis", "It as an interval of milliseconds.")
    millis = _interval("millis", "It as an interval of milliseconds.")

    rowtime = function("ROWTIME", "A new column with timestamps, or the time of a window.")
    proctime = function("PROCTIME", "A new column with the time at which a row is looked at.")
    start = function("START", "The start of a window.")
    end = function("END", "The end of a window.")

    def _cast_to(self, kind: Any) -> Expression:
        return self._new(syntax.Cast(self._unresolved, kind))

    @property
    def to_date(self) -> Expression:
        """The date that a text means."""
        return self._cast_to(logical.DATE)

    @property
    def to_time(self) -> Expression:
        """The time of day that a text means."""
        return self._cast_to(logical.time(0))

    @property
    def to_timestamp(self) -> Expression:
        """The timestamp that a text means."""
        return self._cast_to(logical.timestamp(3))

    def extract(self, time_interval_unit: TimeIntervalUnit) -> Expression:
        """Return a part of a date or time."""
        return self._of("EXTRACT", symbols=(time_interval_unit.name,))

    def floor(self, time_interval_unit: TimeIntervalUnit = None) -> Expression:
        """Return the whole number below, or the beginning of a unit of time."""
        symbols = () if time_interval_unit is None else (time_interval_unit.name,)
        return self._of("FLOOR", symbols=symbols)

    def ceil(self, time_interval_unit: TimeIntervalUnit = None) -> Expression:
        """Return the whole number above, or the end of a unit of time."""
        symbols = () if time_interval_unit is None else (time_interval_unit.name,)
        return self._of("CEIL", symbols=symbols)
