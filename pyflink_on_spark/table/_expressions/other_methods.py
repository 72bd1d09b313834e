"""What expressions can do with times, arrays, maps and JSON."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.syntax import expressions as syntax
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import Root
from pyflink_on_spark.common.data_types import DataType, DataTypes
from pyflink_on_spark.table._expressions.parts import Operand, function

if TYPE_CHECKING:
    from pyflink_on_spark.table.expression import Expression

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


class JsonType(enum.Enum):
    """Kinds of JSON."""

    VALUE = (0,)
    SCALAR = (1,)
    ARRAY = (2,)
    OBJECT = 3


class JsonExistsOnError(enum.Enum):
    """What ``json_exists`` does about errors."""

    TRUE = (0,)
    FALSE = (1,)
    UNKNOWN = (2,)
    ERROR = 3


class JsonValueOnEmptyOrError(enum.Enum):
    """What ``json_value`` does about errors, and where there is nothing."""

    NULL = (0,)
    ERROR = (1,)
    DEFAULT = 2


class JsonQueryWrapper(enum.Enum):
    """Whether ``json_query`` makes an array of what it finds."""

    WITHOUT_ARRAY = (0,)
    CONDITIONAL_ARRAY = (1,)
    UNCONDITIONAL_ARRAY = 2


class JsonQueryOnEmptyOrError(enum.Enum):
    """What ``json_query`` does about errors, and where there is nothing."""

    NULL = (0,)
    EMPTY_ARRAY = (1,)
    EMPTY_OBJECT = (2,)
    ERROR = 3


class JsonOnNull(enum.Enum):
    """What becomes of NULL in JSON."""

    NULL = (0,)
    ABSENT = 1


def _interval(name: str, document: str) -> Any:
    def get(self: Operand) -> Expression:
        months = name in _MONTHS
        factor = _MONTHS[name] if months else _MICROS[name]
        kind = logical.INTERVAL_MONTH if months else logical.INTERVAL_SECOND
        kind = kind.with_nullable(False)
        written = self._written
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
        return self._new(syntax.Cast(self._written, kind))

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


class CollectionMethods(Operand):
    """The methods of arrays and maps."""

    cardinality = function("CARDINALITY", "How many elements it has.")
    element = function("ELEMENT", "Its only element.")
    map_keys = function("MAP_KEYS", "Its keys.")
    map_values = function("MAP_VALUES", "Its values.")
    map_entries = function("MAP_ENTRIES", "Its keys and values, as rows.")

    def array_append(self, addition) -> Expression:
        """Return it with an element at its end."""
        return self._of("ARRAY_APPEND", addition)

    def array_contains(self, needle) -> Expression:
        """Tell whether an element is in it."""
        return self._of("ARRAY_CONTAINS", needle)

    def array_distinct(self) -> Expression:
        """Return it without doubles."""
        return self._of("ARRAY_DISTINCT")

    def array_position(self, needle) -> Expression:
        """Return where an element is, counted from 1; 0 if nowhere."""
        return self._of("ARRAY_POSITION", needle)

    def array_prepend(self, addition) -> Expression:
        """Return it with an element at its beginning."""
        return self._of("ARRAY_PREPEND", addition)

    def array_remove(self, needle) -> Expression:
        """Return it without the elements of a value."""
        return self._of("ARRAY_REMOVE", needle)

    def array_reverse(self) -> Expression:
        """Return it from its end to its beginning."""
        return self._of("ARRAY_REVERSE")

    def array_slice(self, start_offset, end_offset=None) -> Expression:
        """Return a part of it."""
        return self._of("ARRAY_SLICE", start_offset, end_offset)

    def array_sort(self, ascending_order=None, null_first=None) -> Expression:
        """Return it in order."""
        return self._of("ARRAY_SORT", ascending_order, null_first)

    def array_union(self, array) -> Expression:
        """Return the elements of two arrays without doubles."""
        return self._of("ARRAY_UNION", array)

    def array_concat(self, *arrays) -> Expression:
        """Return arrays one after the other."""
        return self._of("ARRAY_CONCAT", *arrays)

    def array_max(self) -> Expression:
        """Return its largest element."""
        return self._of("ARRAY_MAX")

    def array_join(self, delimiter, null_replacement=None) -> Expression:
        """Return its elements as one text."""
        return self._of("ARRAY_JOIN", delimiter, null_replacement)

    def array_min(self) -> Expression:
        """Return its smallest element."""
        return self._of("ARRAY_MIN")

    def array_except(self, array) -> Expression:
        """Return its elements that another array has not."""
        return self._of("ARRAY_EXCEPT", array)

    def array_intersect(self, array) -> Expression:
        """Return the elements of both arrays."""
        return self._of("ARRAY_INTERSECT", array)

    def map_union(self, *maps) -> Expression:
        """Return the pairs of all maps."""
        return self._of("MAP_UNION", *maps)


class JsonMethods(Operand):
    """The methods of JSON."""

    def is_json(self, json_type: JsonType = None) -> Expression[bool]:
        """Tell whether it is JSON of some kind."""
        kind = "VALUE" if json_type is None else json_type.name
        return self._of("IS JSON", symbols=(kind,))

    def json_quote(self) -> Expression:
        """Return a text as a string of JSON."""
        return self._of("JSON_QUOTE")

    def json_unquote(self) -> Expression:
        """Return the text that a string of JSON stands for."""
        return self._of("JSON_UNQUOTE")

    def json_exists(self, path: str, on_error: JsonExistsOnError = None) -> Expression[bool]:
        """Tell whether a path leads to something."""
        if on_error not in {None, JsonExistsOnError.FALSE}:
            raise ValidationError(f"json_exists with {on_error} is not supported yet")
        return self._of("JSON_EXISTS", path)

    def json_value(
        self,
        path: str,
        returning_type: DataType = DataTypes.STRING(),
        on_empty: JsonValueOnEmptyOrError = JsonValueOnEmptyOrError.NULL,
        default_on_empty: Any = None,
        on_error: JsonValueOnEmptyOrError = JsonValueOnEmptyOrError.NULL,
        default_on_error: Any = None,
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
        from pyflink_on_spark.table._expressions.types import logical_type

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
        """Return the object or the array that a path leads to."""
        if {on_empty, on_error} != {JsonQueryOnEmptyOrError.NULL}:
            raise ValidationError("json_query gives NULL for nothing and for errors")
        return self._of("JSON_QUERY", path, symbols=(wrapping_behavior.name.partition("_")[0],))
