"""Runs of queries over files, from one savepoint to the next."""

from __future__ import annotations

import contextlib
import io
import re
import time

from pyflink_on_spark.common import Configuration
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.table import StreamTableEnvironment

COLUMNS = "k STRING, v BIGINT, w BIGINT, g STRING"
EVENTS = "CREATE TEMPORARY VIEW e AS SELECT k, v, w, g, ts FROM timed"
VERSIONS = (
    "CREATE TEMPORARY VIEW versions AS SELECT k, w, ts FROM (SELECT *, ROW_NUMBER() OVER "
    "(PARTITION BY k ORDER BY ts DESC) AS n FROM timed) WHERE n = 1"
)
FIRST = "a,1,10,x\nb,2,20,y\na,3,30,x\n"
ROWS = FIRST.count("\n")


class World:
    """Files that a table reads, and runs of programs over them.

    Args:
        folder: for all of it.
    """

    def __init__(self, folder):
        self._folder = folder
        (folder / "in").mkdir()
        self.add(FIRST)

    def add(self, lines):
        number = len(list((self._folder / "in").iterdir()))
        (self._folder / "in" / f"{number}.csv").write_text(lines)

    def tables(self, columns=COLUMNS, form="csv", savepoint=None, parallelism=2, **options):
        configuration = Configuration()
        if savepoint is not None:
            configuration.set_string("execution.state-recovery.path", savepoint)
        for key, value in options.items():
            configuration.set_string(key, value)
        env = StreamExecutionEnvironment.get_execution_environment(configuration)
        env.set_parallelism(parallelism)
        t_env = StreamTableEnvironment.create(env)
        source = (
            f"'connector' = 'filesystem', 'path' = '{self._folder}/in', 'format' = '{form}', "
            "'source.monitor-interval' = '20 ms'"
        )
        t_env.execute_sql(f"CREATE TABLE t ({columns}) WITH ({source})")
        t_env.execute_sql(
            f"CREATE TABLE timed ({columns}, ts AS TO_TIMESTAMP_LTZ(CAST(v AS BIGINT), 0), "
            f"p AS PROCTIME(), WATERMARK FOR ts AS ts) WITH ({source})"
        )
        t_env.execute_sql(EVENTS)
        t_env.execute_sql(VERSIONS)
        t_env.execute_sql("CREATE TABLE seen (k STRING) WITH ('connector' = 'print', "
                          "'print-identifier' = 'seen')")  # fmt: skip
        return t_env

    @staticmethod
    def statements(t_env, queries):
        made = t_env.create_statement_set()
        made.add_insert_sql("INSERT INTO seen SELECT k FROM t")
        for name, query in queries.items():
            schema = t_env.sql_query(query)._node.schema
            columns = ", ".join(
                f"`{column}` {kind.text(nullability=False)}"
                for column, kind in zip(schema.names, schema.types)
            )
            t_env.execute_sql(
                f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'print', "
                f"'print-identifier' = '{name}')"
            )
            made.add_insert_sql(f"INSERT INTO {name} {query}")
        return made

    def run(self, queries, rows=ROWS, **settings):
        """Runs queries until so many rows were read; returns a savepoint and what was printed."""
        queries = {"o": queries} if isinstance(queries, str) else queries
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            result = self.statements(self.tables(**settings), queries).execute()
            client = result.get_job_client()
            deadline = time.monotonic() + 60
            while printed.getvalue().count("seen") < rows and time.monotonic() < deadline:
                if client.get_job_status().result().name == "FAILED":
                    result.wait()
                time.sleep(0.005)
            path = client.stop_with_savepoint(False, f"{self._folder}/savepoints").result()
        lines = printed.getvalue().splitlines()
        plain = [re.sub(r"^(\w+):(\d+> )?", r"\1:", line) for line in lines if "seen" not in line]
        return path, [line.removeprefix("o:") for line in plain]
