"""Functions of dates, times and intervals, and of the session's time."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pyflink_on_spark._sql.codegen.program import Binding, EventClockBinding
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.functions.builtin import arithmetic
from pyflink_on_spark._sql.functions.builtin.arithmetic import add_months
from pyflink_on_spark._sql.functions.definitions import function_of, overload
from pyflink_on_spark._sql.plan.signatures import (
    CallSite,
    Code,
    Nulls,
    Overload,
    ScalarFunction,
    always,
    as_bigint,
    as_int,
    characters,
    of,
)
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import LogicalType, Root, Time
from pyflink_on_spark._sql.types.temporal import (
    MICROS_PER_DAY,
    MICROS_PER_HOUR,
    MICROS_PER_MINUTE,
    MICROS_PER_SECOND,
    date_of,
    format_timestamp,
    parse_cast_timestamp,
    parse_date,
    parse_loose_timestamp,
    parse_with,
    to_instant,
    to_local,
)

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext
    from pyflink_on_spark._sql.plan.expressions import Typed


_EPOCH_DAY = datetime.date(1970, 1, 1).toordinal()


_MICROS = {
    "DAY": MICROS_PER_DAY,
    "HOUR": MICROS_PER_HOUR,
    "MINUTE": MICROS_PER_MINUTE,
    "SECOND": MICROS_PER_SECOND,
    "MILLISECOND": 1000,
    "MICROSECOND": 1,
}


_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12, "DECADE": 120, "CENTURY": 1200,
           "MILLENNIUM": 12000}  # fmt: skip


_DATE_PARTS: dict[str, Callable[[datetime.date], int]] = {
    "YEAR": lambda date: date.year,
    "QUARTER": lambda date: (date.month + 2) // 3,
    "MONTH": lambda date: date.month,
    "WEEK": lambda date: date.isocalendar().week,
    "ISOYEAR": lambda date: date.isocalendar().year,
    "DAY": lambda date: date.day,
    "DOW": lambda date: date.isoweekday() % 7 + 1,
    "ISODOW": lambda date: date.isoweekday(),
    "DOY": lambda date: date.timetuple().tm_yday,
    "DECADE": lambda date: date.year // 10,
    "CENTURY": lambda date: (date.year + 99) // 100,
    "MILLENNIUM": lambda date: (date.year + 999) // 1000,
}


def part_of_date(days: int, unit: str) -> int:
    """Return a part of a date; 0 for parts of a time of day."""
    if unit == "EPOCH":
        return days * 86400
    part = _DATE_PARTS.get(unit)
    return 0 if part is None else part(date_of(days))


def part_of_time(micros: int, unit: str) -> int:
    """Return a part of a time of day."""
    if unit == "HOUR":
        return micros // MICROS_PER_HOUR
    if unit == "MINUTE":
        return micros % MICROS_PER_HOUR // MICROS_PER_MINUTE
    if unit == "SECOND":
        return micros % MICROS_PER_MINUTE // MICROS_PER_SECOND
    if unit == "MILLISECOND":
        return micros % MICROS_PER_SECOND // 1000
    if unit == "MICROSECOND":
        return micros % MICROS_PER_SECOND
    return micros % MICROS_PER_SECOND * 1000 if unit == "NANOSECOND" else 0


def part_of_timestamp(micros: int, unit: str) -> int:
    """Return a part of a timestamp."""
    if unit == "EPOCH":
        return micros // MICROS_PER_SECOND
    if (unit in _MICROS and unit != "DAY") or unit == "NANOSECOND":
        return part_of_time(micros % MICROS_PER_DAY, unit)
    return part_of_date(micros // MICROS_PER_DAY, unit)


def part_of_duration(micros: int, unit: str) -> int:
    """Return a part of an interval of days and less; all parts have its sign."""
    size = _MICROS.get(unit, 0)
    larger = {"HOUR": 24, "MINUTE": 60, "SECOND": 60}.get(unit)
    if larger is None and unit != "DAY":
        raise ValueError(f"An interval of days has no part {unit}.")
    count = abs(micros) // size
    count = count if larger is None else count % larger
    return count if micros >= 0 else -count


def part_of_months(months: int, unit: str) -> int:
    """Return a part of an interval of months; all parts have its sign."""
    if unit not in {"YEAR", "MONTH"}:
        raise ValueError(f"An interval of months has no part {unit}.")
    years, rest = divmod(abs(months), 12)
    count = years if unit == "YEAR" else rest
    return count if months >= 0 else -count


def floor_to_unit(value: int, unit: str, root: str) -> int:
    """Return the beginning of the unit that a value is in.

    Args:
        value: days, or microseconds.
        unit: the unit.
        root: ``DATE``, ``TIME``, ``TIMESTAMP`` or ``TIMESTAMP_LTZ``.
    """
    if root == "DATE":
        return floor_date(value, unit)
    if unit in _MICROS:
        return value - value % _MICROS[unit]
    return floor_date(value // MICROS_PER_DAY, unit) * MICROS_PER_DAY


def floor_date(days: int, unit: str) -> int:
    """Return the first day of the unit that a day is in."""
    if unit == "WEEK":
        return days - date_of(days).isoweekday() % 7
    months = _MONTHS.get(unit)
    if months is None:
        return days
    date = date_of(days)
    number = date.year * 12 + date.month - 1
    if months > 12:
        number = (
            (date.year - 1) // (months // 12) * months + 12
            if months > 120
            else (date.year // 10 * 120)
        )
    else:
        number -= number % months
    return datetime.date(number // 12, number % 12 + 1, 1).toordinal() - _EPOCH_DAY


def ceiling_to_unit(value: int, unit: str, root: str) -> int:
    """Return the end of the unit that a value is in; a beginning is its own end."""
    floor = floor_to_unit(value, unit, root)
    if floor == value:
        return value
    if root != "DATE" and unit in _MICROS:
        return floor + _MICROS[unit]
    per_day = 1 if root == "DATE" else MICROS_PER_DAY
    days = floor // per_day
    if unit == "WEEK":
        return (days + 7) * per_day
    return add_months(days, _MONTHS[unit]) * per_day if unit in _MONTHS else value


def months_between(earlier: int, later: int) -> int:
    """Return how many months lie between two timestamps in microseconds.

    As in Flink the days decide. The times of day count where the days are whole months apart, and
    take a month off also if the result is negative.
    """
    one, time_one = divmod(earlier, MICROS_PER_DAY)
    two, time_two = divmod(later, MICROS_PER_DAY)
    months = _months_of_days(one, two) if one <= two else -_months_of_days(two, one)
    if time_two < time_one and add_months(one, months) == two:
        months -= 1
    return months


def _months_of_days(earlier: int, later: int) -> int:
    first, last = date_of(earlier), date_of(later)
    months = (last.year - first.year) * 12 + last.month - first.month
    return months - (add_months(earlier, months) > later)


def units_between(unit: str, earlier: int, later: int) -> int:
    """Return how many whole units lie between two timestamps in microseconds."""
    if unit == "WEEK":
        return _quotient(later - earlier, 7 * MICROS_PER_DAY)
    if unit in _MICROS:
        return _quotient(later - earlier, _MICROS[unit])
    return _quotient(months_between(earlier, later), _MONTHS[unit])


def _quotient(dividend: int, divisor: int) -> int:
    quotient = abs(dividend) // divisor
    return quotient if dividend >= 0 else -quotient


PROCTIME_TYPE = replace(logical.timestamp_ltz(3).with_nullable(False), time=Time.PROCTIME)


class ProcessingTime(Binding):
    """Gives the subtask's clock, in microseconds."""

    def load(self, context: OperatorContext | None) -> object:
        """Return a function of no arguments."""
        assert context is not None
        now = context.clock.now
        return lambda: now() * 1000


_NOW = ProcessingTime()


def _now(site: CallSite) -> str:
    return f"{site.bind(_NOW, 'now')}()"


def _converted_now(template: str) -> Code:
    """Return code for the clock; ``{0}`` is its microseconds, ``{zone}`` the session's zone."""

    def code(site: CallSite) -> str:
        local = site.bind(to_local, "to_local")
        now = f"{site.bind(_NOW, 'now')}()"
        return template.format(now, local=f"{local}({now}, {site.time_zone!r})")

    return code


def _clock(name: str, kind: LogicalType, template: str, aliases: tuple[str, ...] = ()) -> object:
    result = kind.with_nullable(False)
    overload_ = Overload((), lambda types: result, _converted_now(template), Nulls.CALLED)
    return ScalarFunction(name, (overload_,), deterministic=False, aliases=aliases)


def _part(unit: str | None) -> tuple[Overload, ...]:
    """Return the overloads of EXTRACT; without a unit a symbol names it."""

    def code(function: Callable[[int, str], int], of_instant: bool = False) -> Code:
        def made(site: CallSite) -> str:
            name = site.bind(function, function.__name__)
            value = site.source(0)
            if of_instant:
                value = f"{site.bind(to_local, 'to_local')}({value}, {site.time_zone!r})"
            return f"{name}({value}, {(unit or site.symbols[0])!r})"

        return made

    return (
        Overload((of(Root.DATE),), always(logical.BIGINT), code(part_of_date)),
        Overload((of(Root.TIMESTAMP),), always(logical.BIGINT), code(part_of_timestamp)),
        Overload(
            (of(Root.TIMESTAMP_LTZ),),
            always(logical.BIGINT),
            code(part_of_timestamp, of_instant=True),
        ),
        Overload((of(Root.TIME),), always(logical.BIGINT), code(part_of_time)),
        *(
            Overload((of(root),), always(logical.BIGINT), code(part))
            for root, part in (
                (Root.INTERVAL_SECOND, part_of_duration),
                (Root.INTERVAL_MONTH, part_of_months),
            )
        ),
    )


_PARTS = {
    "YEAR": "YEAR",
    "QUARTER": "QUARTER",
    "MONTH": "MONTH",
    "WEEK": "WEEK",
    "DAYOFYEAR": "DOY",
    "DAYOFMONTH": "DAY",
    "DAYOFWEEK": "DOW",
    "HOUR": "HOUR",
    "MINUTE": "MINUTE",
    "SECOND": "SECOND",
}


def _format_text(text: str, pattern: str) -> str | None:
    micros = parse_loose_timestamp(text)
    return None if micros is None else format_timestamp(micros, pattern)


def _to_date(text: str, pattern: str | None = None) -> int | None:
    if pattern is None:
        return parse_date(text[:10])
    micros = parse_with(text, pattern)
    return None if micros is None else micros // MICROS_PER_DAY


def _to_timestamp(text: str, pattern: str | None = None) -> int | None:
    micros = parse_cast_timestamp(text) if pattern is None else parse_with(text, pattern)
    return None if micros is None else micros - micros % 1000


def _number_to_instant(number: int, precision: int = 3) -> int:
    if precision not in {0, 3}:
        raise ValueError(
            f"The precision value '{precision}' for function TO_TIMESTAMP_LTZ(numeric, precision) "
            "is unsupported, the supported value is '0' for second or '3' for millisecond."
        )
    return number * (MICROS_PER_SECOND if precision == 0 else 1000)


def _text_to_instant(text: str, pattern: str | None = None, zone: str = "UTC") -> int | None:
    micros = _to_timestamp(text, pattern)
    return None if micros is None else to_instant(micros, zone)


def _unix_time(text: str, zone: str, pattern: str = "yyyy-MM-dd HH:mm:ss") -> int:
    micros = parse_with(text, pattern)
    if micros is None:
        return -(2**63)
    return to_instant(micros, zone) // MICROS_PER_SECOND


def _from_unix_time(seconds: int, zone: str, pattern: str = "yyyy-MM-dd HH:mm:ss") -> str:
    return format_timestamp(to_local(seconds * MICROS_PER_SECOND, zone), pattern)


def _moved(text: str, before: str, after: str) -> str | None:
    micros = parse_with(text, "yyyy-MM-dd HH:mm:ss")
    if micros is None:
        return None
    return format_timestamp(to_local(to_instant(micros, before), after), "yyyy-MM-dd HH:mm:ss")


def _zoned(function: Callable[..., object], name: str) -> Code:
    """Return code that hands the session's zone over after the first argument."""

    def code(site: CallSite) -> str:
        first, *rest = site.sources()
        args = ", ".join([first, repr(site.time_zone), *rest])
        return f"{site.bind(function, name)}({args})"

    return code


def _formatted_instant(micros: int, zone: str, pattern: str) -> str:
    return format_timestamp(to_local(micros, zone), pattern)


def _added(site: CallSite) -> str:
    """Return code for TIMESTAMPADD: a count of units, and a date or a timestamp."""
    (unit,) = site.symbols
    count, value = site.sources()
    is_date = site.types[1].root is Root.DATE
    months = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}.get(unit)
    if months is not None:
        add = arithmetic.add_months if is_date else arithmetic.add_months_to_timestamp
        return f"{site.bind(add, add.__name__)}({value}, ({count}) * {months})"
    micros = {
        "WEEK": 7 * MICROS_PER_DAY,
        "DAY": MICROS_PER_DAY,
        "HOUR": 3600 * MICROS_PER_SECOND,
        "MINUTE": 60 * MICROS_PER_SECOND,
        "SECOND": MICROS_PER_SECOND,
        "MILLISECOND": 1000,
        "MICROSECOND": 1,
    }[unit]
    if is_date and site.type.root is Root.DATE:
        return f"{value} + ({count}) * {micros // MICROS_PER_DAY}"
    if is_date:
        return f"{value} * {MICROS_PER_DAY} + ({count}) * {micros}"
    return f"{value} + ({count}) * {micros}"


def _between(site: CallSite) -> str:
    (unit,) = site.symbols
    name = site.bind(units_between, "units_between")
    earlier, later = (
        f"({source}) * {MICROS_PER_DAY}" if kind.root is Root.DATE else source
        for source, kind in zip(site.sources(), site.types)
    )
    return f"{name}({unit!r}, {earlier}, {later})"


_MONTH_UNITS = frozenset({"YEAR", "QUARTER", "MONTH"})


def _interval_between(site: CallSite) -> str:
    """Return code for ``(later - earlier) UNIT``."""
    (unit,) = site.symbols
    later, earlier = site.sources()
    days = f" * {MICROS_PER_DAY}" if site.types[0].root is Root.DATE else ""
    if unit in _MONTH_UNITS:
        name = site.bind(months_between, "months_between")
        return f"{name}(({earlier}){days}, ({later}){days})"
    return f"(({later}) - ({earlier})){days}"


def _interval_type(_args: Sequence[Typed], symbols: tuple[str, ...]) -> LogicalType:
    (unit,) = symbols
    return logical.INTERVAL_MONTH if unit in _MONTH_UNITS else logical.INTERVAL_SECOND


def _moved_date_type(unit: str) -> LogicalType:
    if unit in {"MILLISECOND", "MICROSECOND"}:
        raise ValidationError(f"TIMESTAMPADD cannot add the unit {unit} to a DATE.")
    return logical.timestamp(3) if unit in {"HOUR", "MINUTE", "SECOND"} else logical.DATE


def _moved_type(args: Sequence[Typed], symbols: tuple[str, ...]) -> LogicalType:
    (unit,) = symbols
    kind = args[1].type
    if kind.root is Root.DATE:
        return _moved_date_type(unit)
    return replace(kind, precision=max(kind.precision or 0, 3), time=None)


_dates = of(Root.TIMESTAMP, Root.TIMESTAMP_LTZ, Root.DATE)


_TIMES = (
    ScalarFunction(
        "PROCTIME",
        (Overload((), lambda types: PROCTIME_TYPE, _now, Nulls.CALLED),),
        deterministic=False,
    ),
    _clock("CURRENT_TIMESTAMP", logical.timestamp_ltz(3), "{0}", ("NOW", "CURRENT_ROW_TIMESTAMP")),
    _clock("LOCALTIMESTAMP", logical.timestamp(3), "{local}"),
    _clock("CURRENT_DATE", logical.DATE, f"{{local}} // {MICROS_PER_DAY}"),
    _clock(
        "CURRENT_TIME",
        logical.time(0),
        f"{{local}} % {MICROS_PER_DAY} // {MICROS_PER_SECOND} * {MICROS_PER_SECOND}",
        ("LOCALTIME",),
    ),
    ScalarFunction("EXTRACT", _part(None)),
    *(ScalarFunction(name, _part(unit)) for name, unit in _PARTS.items()),
    ScalarFunction(
        "DATE_FORMAT",
        (
            overload(
                (of(Root.TIMESTAMP), characters), logical.STRING, format_timestamp, nullable=True
            ),
            Overload(
                (of(Root.TIMESTAMP_LTZ), characters),
                always(logical.STRING),
                _zoned(_formatted_instant, "formatted_instant"),
                Nulls.STRICT_NULLABLE,
            ),
            overload((characters, characters), logical.STRING, _format_text, nullable=True),
        ),
    ),
    function_of(
        "TO_DATE", (characters, characters), logical.DATE, _to_date, optional=1, nullable=True
    ),
    function_of(
        "TO_TIMESTAMP",
        (characters, characters),
        logical.timestamp(3),
        _to_timestamp,
        optional=1,
        nullable=True,
    ),
    ScalarFunction(
        "TO_TIMESTAMP_LTZ",
        (
            overload(
                (as_bigint, as_int),
                logical.timestamp_ltz(3),
                _number_to_instant,
                nullable=True,
                optional=1,
            ),
            overload(
                (characters, characters, characters),
                logical.timestamp_ltz(3),
                _text_to_instant,
                nullable=True,
                optional=2,
            ),
        ),
    ),
    ScalarFunction(
        "UNIX_TIMESTAMP",
        (
            Overload(
                (),
                always(logical.BIGINT.with_nullable(False)),
                _converted_now(f"{{0}} // {MICROS_PER_SECOND}"),
                Nulls.CALLED,
            ),
            Overload(
                (characters, characters),
                always(logical.BIGINT),
                _zoned(_unix_time, "unix_time"),
                optional=1,
            ),
        ),
    ),
    ScalarFunction(
        "FROM_UNIXTIME",
        (
            Overload(
                (as_bigint, characters),
                always(logical.STRING),
                _zoned(_from_unix_time, "from_unix_time"),
                Nulls.STRICT_NULLABLE,
                optional=1,
            ),
        ),
    ),
    function_of(
        "CONVERT_TZ", (characters, characters, characters), logical.STRING, _moved, nullable=True
    ),
    ScalarFunction(
        "TIMESTAMPADD",
        (Overload((as_int, _dates), always(logical.DATE), _added, shape=_moved_type),),
    ),
    ScalarFunction(
        "TIMESTAMPDIFF",
        (Overload((_dates, _dates), always(logical.INT), _between),),
    ),
    ScalarFunction(
        "MINUS_DATE",
        tuple(
            Overload(
                (of(root), of(root)),
                always(logical.INTERVAL_SECOND),
                _interval_between,
                shape=_interval_type,
            )
            for root in (Root.TIMESTAMP, Root.TIMESTAMP_LTZ, Root.DATE, Root.TIME)
        ),
    ),
)


_CLOCK = EventClockBinding()


def _rowtime(kind: LogicalType) -> LogicalType | None:
    return kind.plain() if kind.time is Time.ROWTIME else None


def _watermark(site: CallSite) -> str:
    return f"{site.bind(_CLOCK, 'event_clock')}.micros()"


_SESSION = (
    ScalarFunction(
        "CURRENT_WATERMARK",
        (
            Overload(
                (_rowtime,),
                lambda types: types[0].with_nullable(True).plain(),
                _watermark,
                Nulls.CALLED,
            ),
        ),
        deterministic=False,
        foldable=False,
    ),
)


FUNCTIONS = (*_TIMES, *_SESSION)
