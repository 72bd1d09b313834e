"""Compiled plans."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._job.display import console
from pyflink_on_spark._options.flink import FORCE_RECOMPILE
from pyflink_on_spark._sql.session.session import flink_version, sinks_of, write_plan
from pyflink_on_spark.table._inner import session_of
from pyflink_on_spark.table.explain_detail import ExplainDetail
from pyflink_on_spark.table.table_result import TableResult

__all__ = ["CompiledPlan"]


def refuse_tables(call: str) -> NoReturn:
    """Raise the error for a call that makes a plan of tables that are no texts of SQL.

    Args:
        call: the call.

    Raises:
        UnsupportedFlinkFeature: always.
    """
    raise_unsupported(
        call,
        kind=Gap.NOT_YET,
        reason="a compiled plan has the texts of INSERTs",
        instead="Write the INSERT in SQL: compile_plan_sql, add_insert_sql or COMPILE PLAN.",
    )


class CompiledPlan:
    """INSERTs that are planned and not yet run.

    On Spark: The plan has the texts of the INSERTs and the columns of their tables. Plans of Flink
    are refused.

    Args:
        j_compiled_plan: use ``compile_plan_sql`` and ``load_plan``.
        t_env: the environment.
    """

    def __init__(self, j_compiled_plan, t_env):
        self._text: str = j_compiled_plan
        self._t_env = t_env
        self._sinks: object = sinks_of(session_of(t_env), self._text)

    def __str__(self) -> str:
        return self.explain()

    def as_json_string(self) -> str:
        """Return the plan as JSON."""
        return self._text

    def as_smile_bytes(self) -> bytes:
        """Return the plan as bytes, for ``PlanReference.from_smile_bytes``.

        On Spark: The bytes are those of the JSON.
        """
        return self._text.encode()

    def write_to_file(self, file: str | Path, ignore_if_exists: bool = False):
        """Write the plan to a file of this machine.

        Args:
            file: the file.
            ignore_if_exists: whether a file that is there stays, without an error.

        Raises:
            TableException: the file is there.
        """
        replaces = FORCE_RECOMPILE.read(session_of(self._t_env).settings().configuration)
        write_plan(self._text, str(file), if_not_exists=ignore_if_exists, replaces=replaces)

    def get_flink_version(self) -> str:
        """Return the version of Flink whose behaviour the plan is of."""
        return flink_version(self._text)

    def print_json_string(self):
        """Print the plan as JSON."""
        console.write(self._text)

    def execute(self) -> TableResult:
        """Start a job of the INSERTs.

        On Spark: Works; PyFlink 2.3 fails with a Py4JError.
        """
        return TableResult(self._t_env._jobs.insert(self._sinks))

    def explain(self, *extra_details: ExplainDetail) -> str:
        """Return how the INSERTs are carried out."""
        return self._t_env._explain(self._sinks, extra_details)

    def print_explain(self, *extra_details: ExplainDetail):
        """Print how the INSERTs are carried out."""
        console.write(self.explain(*extra_details))


__getattr__ = missing_name(__name__)
