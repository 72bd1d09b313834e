# mypy: disable-error-code="empty-body"
"""Compiled plans: names and signatures only."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported, unsupported_class
from pyflink_on_spark.table.explain_detail import ExplainDetail
from pyflink_on_spark.table.table_result import TableResult

__all__ = ["CompiledPlan"]

_REASON = "a compiled plan is a file of Flink's planner"
_INSTEAD = "Run the INSERT with execute_sql or a StatementSet."

_unsupported = unsupported_class(kind=Gap.NEVER, reason=_REASON, instead=_INSTEAD)


def refuse_compiled_plan(call: str) -> NoReturn:
    """Raise the error for a call that makes or reads a compiled plan.

    Args:
        call: the call.

    Raises:
        UnsupportedFlinkFeature: always.
    """
    raise_unsupported(call, kind=Gap.NEVER, reason=_REASON, instead=_INSTEAD)


@_unsupported
class CompiledPlan:
    """An INSERT that is planned and not yet run."""

    def __init__(self, j_compiled_plan, t_env): ...

    def __str__(self) -> str: ...

    def as_json_string(self) -> str: ...

    def as_smile_bytes(self) -> bytes: ...

    def write_to_file(self, file: str | Path, ignore_if_exists: bool = False): ...

    def get_flink_version(self) -> str: ...

    def print_json_string(self): ...

    def execute(self) -> TableResult: ...

    def explain(self, *extra_details: ExplainDetail) -> str: ...

    def print_explain(self, *extra_details: ExplainDetail): ...


__getattr__ = missing_name(__name__)
