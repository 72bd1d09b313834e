"""Functions of dates and times."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._sql.compiler.call_site import CallSite
from pyflink_on_spark._sql.compiler.program import Binding
from pyflink_on_spark._sql.functions.definition import Nulls, Overload, ScalarFunction
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import Time

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.operators.context import OperatorContext

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


FUNCTIONS = (
    ScalarFunction(
        "PROCTIME",
        (Overload((), lambda types: PROCTIME_TYPE, _now, Nulls.CALLED),),
        deterministic=False,
    ),
)
