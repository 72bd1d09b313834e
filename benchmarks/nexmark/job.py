"""Runs queries of Nexmark on the `pyflink` that is installed, and prints what each one costs.

Each line is the name of a query, the seconds that it took by the clock, and the processor time of
all processes of the session meanwhile.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.nexmark.events import tables
from benchmarks.nexmark.queries import QUERIES

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def busy_seconds() -> float:
    """Return the processor time so far of the processes of this session that live."""
    session, total = os.getsid(0), 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == session:
                total += int(fields[11]) + int(fields[12])
    return total / _TICKS_PER_SECOND


def environment(folder: Path, parallelism: int):
    """Return a table environment that has the tables of the auction."""
    from pyflink.datastream import StreamExecutionEnvironment
    from pyflink.table import StreamTableEnvironment

    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(parallelism)
    t_env = StreamTableEnvironment.create(env)
    for statement in tables(folder):
        t_env.execute_sql(statement)
    return t_env


def main() -> None:
    """Run the queries that the command line names."""
    from pyflink.table import TableDescriptor

    parser = argparse.ArgumentParser()
    parser.add_argument("folders", nargs="+", type=Path, help="with the events")
    parser.add_argument("--queries", nargs="*", choices=QUERIES, default=list(QUERIES))
    parser.add_argument("--parallelism", type=int, default=1)
    arguments = parser.parse_args()
    for query in arguments.queries:
        for folder in arguments.folders:
            t_env = environment(folder, arguments.parallelism)
            nowhere = TableDescriptor.for_connector("blackhole").build()
            table = t_env.sql_query(QUERIES[query])
            start, busy = time.monotonic(), busy_seconds()
            table.execute_insert(nowhere).wait()
            seconds, busy = time.monotonic() - start, busy_seconds() - busy
            print(f"result> {query} {folder} {seconds:.3f} {busy:.3f}", flush=True)


if __name__ == "__main__":
    main()
