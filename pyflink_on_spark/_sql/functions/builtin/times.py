"""Functions of dates and times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._sql.codegen.program import Binding
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.functions.builtin import numbers, units
from pyflink_on_spark._sql.functions.parameters import (
    always,
    as_bigint,
    as_int,
    characters,
    of,
)
from pyflink_on_spark._sql.functions.shorthand import function_of, overload
from pyflink_on_spark._sql.plan.signatures import CallSite, Code, Nulls, Overload, ScalarFunction
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.date_patterns import format_timestamp, parse_with
from pyflink_on_spark._sql.types.logical import LogicalType, Root, Time
from pyflink_on_spark._sql.types.temporal import (
    MICROS_PER_DAY,
    MICROS_PER_SECOND,
    parse_cast_timestamp,
    parse_date,
    parse_loose_timestamp,
    to_instant,
    to_local,
)

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext
    from pyflink_on_spark._sql.plan.expressions import Typed

PROCTIME_TYPE = replace(logical.timestamp_ltz(3).with_nullable(False), time=Time.PROCTIME)


class ProcessingTime(Binding):
    """Gives the subtask's clock, in microseconds."""

    def load(self, context: OperatorContext | None) -> Any:
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


def _clock(name: str, kind: LogicalType, template: str, aliases: tuple[str, ...] = ()) -> Any:
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
        Overload((of(Root.DATE),), always(logical.BIGINT), code(units.part_of_date)),
        Overload((of(Root.TIMESTAMP),), always(logical.BIGINT), code(units.part_of_timestamp)),
        Overload(
            (of(Root.TIMESTAMP_LTZ),),
            always(logical.BIGINT),
            code(units.part_of_timestamp, of_instant=True),
        ),
        Overload((of(Root.TIME),), always(logical.BIGINT), code(units.part_of_time)),
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


def _zoned(function: Callable[..., Any], name: str) -> Code:
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
        add = numbers.add_months if is_date else numbers.add_months_to_timestamp
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
    name = site.bind(units.units_between, "units_between")
    earlier, later = (
        f"({source}) * {MICROS_PER_DAY}" if kind.root is Root.DATE else source
        for source, kind in zip(site.sources(), site.types)
    )
    return f"{name}({unit!r}, {earlier}, {later})"


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


FUNCTIONS = (
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
)
