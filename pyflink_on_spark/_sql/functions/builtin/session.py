"""Functions of the session, and of the place where a query runs."""

from __future__ import annotations

from pyflink_on_spark._sql.codegen.event_clock import EventClockBinding
from pyflink_on_spark._sql.functions.parameters import always
from pyflink_on_spark._sql.plan.signatures import CallSite, Nulls, Overload, ScalarFunction
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import LogicalType, Time


def current_database(name: str) -> ScalarFunction:
    """Return the function CURRENT_DATABASE while a database is the current one."""
    result = always(logical.STRING.with_nullable(False))
    return ScalarFunction(
        "CURRENT_DATABASE", (Overload((), result, lambda site: repr(name), Nulls.CALLED),)
    )


_CLOCK = EventClockBinding()


def _rowtime(kind: LogicalType) -> LogicalType | None:
    return kind.plain() if kind.time is Time.ROWTIME else None


def _watermark(site: CallSite) -> str:
    return f"{site.bind(_CLOCK, 'event_clock')}.micros()"


FUNCTIONS = (
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
