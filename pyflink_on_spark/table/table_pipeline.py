"""A table on its way to another one."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._job.display import console
from pyflink_on_spark.table.catalog import ObjectIdentifier
from pyflink_on_spark.table.compiled_plan import CompiledPlan, refuse_tables
from pyflink_on_spark.table.explain_detail import ExplainDetail
from pyflink_on_spark.table.table_result import TableResult

__all__ = ["TablePipeline"]


class TablePipeline:
    """A table that is to be written to another one.

    Args:
        j_table_pipeline: use ``Table.insert_into``.
        t_env: the environment.
    """

    def __init__(self, j_table_pipeline, t_env):
        self._sink: Any = j_table_pipeline
        self._t_env = t_env

    def get_sink_identifier(self) -> ObjectIdentifier | None:
        """Return the name of the table that is written; None if it is in no catalog."""
        path = self._sink.path
        return None if path.name.startswith("*anonymous") else ObjectIdentifier(path)

    def compile_plan(self) -> CompiledPlan:
        """Refuse: a plan has texts of SQL.

        Raises:
            UnsupportedFlinkFeature: always.
        """
        refuse_tables("TablePipeline.compile_plan()")

    def execute(self) -> TableResult:
        """Start the job that writes."""
        self._t_env._unbuffer(self)
        return TableResult(self._t_env._jobs.insert([self._sink]))

    def explain(self, *extra_details: ExplainDetail) -> str:
        """Return how it is carried out."""
        return self._t_env._explain([self._sink], extra_details)

    def print_explain(self, *extra_details: ExplainDetail):
        """Print how it is carried out."""
        console.write(self.explain(*extra_details))


__getattr__ = missing_name(__name__)
