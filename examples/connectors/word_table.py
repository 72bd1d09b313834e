"""Counts words into a table of a database.

    python -m pyflink_on_spark examples/connectors/word_table.py --url jdbc:sqlite:/tmp/words.db

With --url jdbc:postgresql://HOST/DATABASE or jdbc:mysql://HOST/DATABASE and --user it writes there;
DATABASE_PASSWORD is the password. On SQLite the table is made; elsewhere it has to be there:
``CREATE TABLE words (word VARCHAR(100) PRIMARY KEY, times BIGINT)``. The jars are what Flink needs
for that; on Spark they are not needed.
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
INSERT = "INSERT INTO words (word, times) VALUES (?, ?) "
UPSERT = INSERT + "ON CONFLICT (word) DO UPDATE SET times = excluded.times"
UPSERT_OF_MYSQL = INSERT + "ON DUPLICATE KEY UPDATE times = VALUES(times)"
COUNT = Types.ROW_NAMED(["word", "times"], [Types.STRING(), Types.LONG()])


def connection(url, user):
    builder = JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url(url)
    if user:
        # A password belongs neither into a program nor on a command line.
        builder.with_user_name(user).with_password(os.environ.get("DATABASE_PASSWORD", ""))
    return builder.build()


def fill_table(options, jars=()):
    env = StreamExecutionEnvironment.get_execution_environment()
    if jars:
        env.add_jars(*jars)
    upsert = UPSERT_OF_MYSQL if options.get_db_url().startswith("jdbc:mysql:") else UPSERT
    execution = JdbcExecutionOptions.builder().with_batch_size(200).with_batch_interval_ms(1000)
    (
        env.from_collection(TEXT, Types.STRING())
        .flat_map(str.split, Types.STRING())
        .map(lambda word: Row(word, 1), COUNT)
        .key_by(lambda row: row[0], Types.STRING())
        .reduce(lambda a, b: Row(a[0], a[1] + b[1]))
        .add_sink(JdbcSink.sink(upsert, COUNT, options, execution.build()))
    )
    env.execute("word table")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", required=True, help="a JDBC URL")
    parser.add_argument("--user", help="who connects; the password is DATABASE_PASSWORD's")
    parser.add_argument("--jars", nargs="*", default=(), help="file:// URLs of Flink's connector")
    arguments = parser.parse_args()
    if arguments.url.startswith("jdbc:sqlite:"):
        file = arguments.url.removeprefix("jdbc:sqlite:")
        with closing(sqlite3.connect(file)) as database:
            database.execute("CREATE TABLE IF NOT EXISTS words (word PRIMARY KEY, times)")
    fill_table(connection(arguments.url, arguments.user), arguments.jars)
