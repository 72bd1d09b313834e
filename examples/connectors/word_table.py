"""Counts words into a table of a database.

    python -m pyflink_on_spark examples/connectors/word_table.py --url jdbc:sqlite:/tmp/words.db

On SQLite the table is made; elsewhere it has to be there:
``CREATE TABLE words (word VARCHAR(100) PRIMARY KEY, times BIGINT)``.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
from contextlib import closing

from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.jdbc import (
    JdbcConnectionOptions,
    JdbcExecutionOptions,
    JdbcSink,
)

TEXT = ["to be or not to be", "that is the question", "to die to sleep"]
UPSERT = (
    "INSERT INTO words (word, times) VALUES (?, ?) "
    "ON CONFLICT (word) DO UPDATE SET times = excluded.times"
)
COUNT = Types.ROW_NAMED(["word", "times"], [Types.STRING(), Types.LONG()])


def connection(url, user):
    builder = JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url(url)
    if user:
        # A password belongs neither into a program nor on a command line.
        builder.with_user_name(user).with_password(os.environ.get("DATABASE_PASSWORD", ""))
    return builder.build()


def fill_table(options):
    env = StreamExecutionEnvironment.get_execution_environment()
    execution = JdbcExecutionOptions.builder().with_batch_size(200).with_batch_interval_ms(1000)
    (
        env.from_collection(TEXT, Types.STRING())
        .flat_map(str.split, Types.STRING())
        .map(lambda word: Row(word, 1), COUNT)
        .key_by(lambda row: row[0], Types.STRING())
        .reduce(lambda a, b: Row(a[0], a[1] + b[1]))
        .add_sink(JdbcSink.sink(UPSERT, COUNT, options, execution.build()))
    )
    env.execute("word table")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", required=True, help="a JDBC URL")
    parser.add_argument("--user", help="who connects; the password is DATABASE_PASSWORD's")
    arguments = parser.parse_args()
    if arguments.url.startswith("jdbc:sqlite:"):
        file = arguments.url.removeprefix("jdbc:sqlite:")
        with closing(sqlite3.connect(file)) as database:
            database.execute("CREATE TABLE IF NOT EXISTS words (word PRIMARY KEY, times)")
    fill_table(connection(arguments.url, arguments.user))
