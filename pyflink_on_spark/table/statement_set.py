"""Several INSERTs as one job."""

from __future__ import annotations

from pyflink_on_spark._compat.arguments import renamed
from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._job.display import console
from pyflink_on_spark._sql.errors import TableError
from pyflink_on_spark._sql.parser.statements import parse_statement
from pyflink_on_spark._sql.session.session import compiled
from pyflink_on_spark._sql.syntax.statements import Insert
from pyflink_on_spark.table._inner import node_of, session_of
from pyflink_on_spark.table.compiled_plan import CompiledPlan, refuse_tables
from pyflink_on_spark.table.explain_detail import ExplainDetail
from pyflink_on_spark.table.table_descriptor import TableDescriptor
from pyflink_on_spark.table.table_pipeline import TablePipeline
from pyflink_on_spark.table.table_result import TableResult

__all__ = ["StatementSet"]


class StatementSet:
    """INSERTs that run as one job; common inputs are read once.

    Args:
        _j_statement_set: use ``create_statement_set``.
        t_env: the environment.
    """

    def __init__(self, _j_statement_set, t_env):
        self._t_env = t_env
        self._sinks: list[object] = []
        self._texts: list[str] = []

    def add(self, table_pipeline: TablePipeline) -> StatementSet:
        """Add what ``insert_into`` gives."""
        self._t_env._unbuffer(table_pipeline)
        self._sinks.append(table_pipeline._sink)
        return self

    def add_insert_sql(self, stmt: str) -> StatementSet:
        """Add an INSERT.

        Raises:
            TableException: it is no INSERT.
            ValidationError: something in it is wrong; the message says where.
        """
        statement = parse_statement(stmt)
        if not isinstance(statement, Insert):
            raise TableError("Only insert statement is supported now.")
        self._sinks.append(session_of(self._t_env).bind_insert(statement))
        self._texts.append(stmt)
        return self

    @renamed(target_path_or_descriptor="target_path")
    def add_insert(
        self,
        target_path_or_descriptor: str | TableDescriptor,
        table,
        overwrite: bool = False,
    ) -> StatementSet:
        """Add that a table is written to another one.

        Args:
            target_path_or_descriptor: where to.
            table: what is written.
            overwrite: whether what was there before goes.

        Raises:
            ValidationError: the rows do not fit, or there is no such table.
        """
        sink = self._t_env._sink(node_of(table), target_path_or_descriptor, overwrite)
        self._sinks.append(sink)
        return self

    def attach_as_datastream(self):
        """Let the StreamExecutionEnvironment's next job carry them out, and empty the set."""
        self._t_env._jobs.attach(self._taken())

    def explain(self, *extra_details: ExplainDetail) -> str:
        """Return how the INSERTs are carried out."""
        return self._t_env._explain(self._sinks, extra_details)

    def print_explain(self, *extra_details: ExplainDetail):
        """Print how the INSERTs are carried out."""
        console.write(self.explain(*extra_details))

    def compile_plan(self) -> CompiledPlan:
        """Plan the INSERTs.

        Raises:
            TableException: there are none.
            UnsupportedFlinkFeature: not all of them are texts of SQL.
        """
        if not self._sinks:
            raise TableError("No operations are in the statement set.")
        if len(self._texts) < len(self._sinks):
            refuse_tables("StatementSet.compile_plan() with tables")
        return CompiledPlan(compiled(session_of(self._t_env), self._texts), self._t_env)

    def execute(self) -> TableResult:
        """Start a job of all INSERTs, and empty the set.

        Raises:
            TableException: there are none.
        """
        return TableResult(self._t_env._jobs.insert(self._taken()))

    def _taken(self) -> list[object]:
        if not self._sinks:
            raise TableError("No operations are in the statement set.")
        taken, self._sinks, self._texts = self._sinks, [], []
        return taken


__getattr__ = missing_name(__name__)
