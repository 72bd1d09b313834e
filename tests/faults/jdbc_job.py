"""The job of the soak between files and a database: `job.py`, whose sinks write exactly once.

python -m pyflink_on_spark tests/faults/jdbc_job.py INPUT OUTPUT --url URL --checkpoints FOLDER
    [--restore CHECKPOINT]
"""

from __future__ import annotations

import argparse

from job import arguments, environment, keyed_events, results, run
from pyflink.common import Row, Types
from pyflink.datastream.connectors.jdbc import JdbcConnectionOptions

from pyflink_on_spark.extensions import jdbc_exactly_once_sink

LINE = Types.ROW_NAMED(["line"], [Types.STRING()])


def sink(table, url):
    options = JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url(url)
    options.with_user_name("owner")
    return jdbc_exactly_once_sink(f"INSERT INTO {table} VALUES (?)", LINE, options.build())


def main():
    parser = argparse.ArgumentParser(parents=[arguments()], add_help=False)
    parser.add_argument("--url", required=True)
    options = parser.parse_args()
    env = environment(options)
    for table, lines in zip(
        ("counts", "windows"), results(keyed_events(env, options)), strict=True
    ):
        rows = lines.map(Row, LINE).uid(f"rows of {table}")
        rows.sink_to(sink(table, options.url)).uid(f"table {table}")
    run(env, options)


if __name__ == "__main__":
    main()
