"""Streams of the changes that a table with a primary key gets."""

from __future__ import annotations

from unittest.mock import patch

from pyflink_on_spark._sql.planner import tables
from pyflink_on_spark._sql.syntax.statements import ConflictStrategy
from pyflink_on_spark.table import ChangelogMode, Schema

__all__ = ["ConflictStrategy", "resolved"]


def resolved(t_env, table, strategy):
    """Returns the changes that a table with the key `k` gets, as by `ON CONFLICT`."""

    external_sink = tables.ExternalSink

    def made(*args):
        sink = external_sink(*args)
        sink.conflict = strategy
        return sink

    taken = Schema.new_builder()
    names = table.get_schema().get_field_names()
    for name, kind in zip(names, table.get_schema().get_field_data_types()):
        taken.column(name, kind.not_null() if name == "k" else kind)
    with patch.object(tables, "ExternalSink", made):
        keyed = taken.primary_key("k").build()
        return t_env.to_changelog_stream(table, keyed, ChangelogMode.upsert())
