"""The upsert keys of queries, which a message names when they do not fit a primary key."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pyflink.common import Row, Types
from pyflink.table import ChangelogMode, Schema

COLUMNS = "INT NOT NULL, {} INT NOT NULL, {} STRING, ts TIMESTAMP(3), pt AS PROCTIME()"
ADDED = (
    ("app", "a", "b", "c", ""),
    ("appk", "a", "b", "c", ", PRIMARY KEY (a) NOT ENFORCED"),
    ("appk2", "d", "e", "f", ", PRIMARY KEY (d, e) NOT ENFORCED"),
)
UPDATED = (("ups", "abc", ("a",)), ("ups2", "def", ("d", "e")))
QUERIES = [
    tuple(line.split(" <- "))
    for line in (Path(__file__).parent / "upsert_keys.txt").read_text().splitlines()
]
"""The keys of queries: none at all, or one or more, of which `[]` has no column."""


@pytest.fixture
def tables(env, t_env):
    """Tables that only grow, with and without a key, and upserts."""
    env.set_parallelism(1)
    for name, first, second, third, key in ADDED:
        t_env.execute_sql(
            f"CREATE TABLE {name} ({first} {COLUMNS.format(second, third)}, WATERMARK FOR ts AS ts"
            f"{key}) WITH ('connector' = 'datagen', 'number-of-rows' = '1')"
        )
    for name, names, key in UPDATED:
        types = Types.ROW_NAMED([*names], [Types.INT(), Types.INT(), Types.STRING()])
        stream = env.from_collection([Row(1, 1, "x")], types)
        schema = Schema.new_builder()
        for column, kind in zip(names, ("INT NOT NULL", "INT NOT NULL", "STRING")):
            schema.column(column, kind)
        keyed = schema.primary_key(*key).build()
        table = t_env.from_changelog_stream(stream, keyed, ChangelogMode.upsert())
        t_env.create_temporary_view(name, table)
        if name == "ups":
            t_env.create_temporary_view("ds", t_env.from_data_stream(stream))
            t_env.create_temporary_view("dsk", t_env.from_data_stream(stream, keyed))
    return t_env


@pytest.mark.parametrize(("expected", "query"), QUERIES)
def test_upsert_keys(tables, expected, query):
    table = tables.sql_query(query)
    columns = table.get_schema().get_field_names()
    types = table.get_schema().get_field_data_types()
    for key in columns:
        schema = Schema.new_builder()
        for name, kind in zip(columns, types):
            schema.column(name, kind.not_null())
        wanted = schema.primary_key(key).build()
        if {f"[{key}]", "[]"} & set(expected.split(", ")):
            tables.to_changelog_stream(table, wanted, ChangelogMode.upsert())
            continue
        with pytest.raises(Exception, match="upsert key: ") as caught:
            tables.to_changelog_stream(table, wanted, ChangelogMode.upsert())
        (found,) = re.findall(r"upsert key: (.*?)\. This can", str(caught.value))
        assert (", ".join(sorted(re.findall(r"\[.*?\]", found))) or "none") == expected
