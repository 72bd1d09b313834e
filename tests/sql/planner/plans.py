"""Plans of queries over a few tables, as short texts."""

from __future__ import annotations

import functools

from pyflink_on_spark._sql.parser.statements import parse_statement
from pyflink_on_spark._sql.plan.nodes import ChangeKinds, ExternalSink
from pyflink_on_spark._sql.planner.physical_planner import physical_plan
from pyflink_on_spark._sql.session.commands import explain
from pyflink_on_spark._sql.session.session import Session

TABLES = (
    (
        "CREATE TABLE orders (id INT, k STRING, v INT, t TIMESTAMP(3), p AS PROCTIME(),"
        " WATERMARK FOR t AS t - INTERVAL '5' SECOND) WITH ('connector' = 'datagen')"
    ),
    (
        "CREATE TABLE payments (id INT, k STRING, w INT, t TIMESTAMP(3),"
        " WATERMARK FOR t AS t) WITH ('connector' = 'datagen')"
    ),
    (
        "CREATE TABLE upserts (k STRING, v INT, PRIMARY KEY (k) NOT ENFORCED)"
        " WITH ('connector' = 'upsert-kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'x',"
        " 'key.format' = 'raw', 'value.format' = 'json')"
    ),
    (
        "CREATE TABLE keyed (k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED)"
        " WITH ('connector' = 'upsert-kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'x',"
        " 'key.format' = 'raw', 'value.format' = 'json')"
    ),
    (
        "CREATE TABLE rates (k STRING, w INT, t TIMESTAMP(3), PRIMARY KEY (k) NOT ENFORCED,"
        " WATERMARK FOR t AS t) WITH ('connector' = 'upsert-kafka', 'topic' = 't',"
        " 'properties.bootstrap.servers' = 'x', 'key.format' = 'raw', 'value.format' = 'json')"
    ),
    "CREATE TABLE plain (k STRING, n BIGINT) WITH ('connector' = 'blackhole')",
    (
        "CREATE TABLE items (a INT, b INT NOT NULL, s STRING, r ROW<x INT, y STRING>,"
        " xs ARRAY<INT>) WITH ('connector' = 'datagen')"
    ),
    "CREATE TABLE others (a INT, c INT) WITH ('connector' = 'datagen')",
    "CREATE TABLE texts (op STRING, n INT) WITH ('connector' = 'datagen')",
    (
        "CREATE TABLE looked (id INT, w INT) WITH ('connector' = 'jdbc',"
        " 'url' = 'jdbc:sqlite:x.db', 'table-name' = 't')"
    ),
    (
        "CREATE TABLE dated (n INT, d STRING) PARTITIONED BY (d)"
        " WITH ('connector' = 'filesystem', 'path' = '/tmp/x', 'format' = 'json')"
    ),
    (
        "CREATE TABLE inserts (k STRING, n BIGINT) WITH ('connector' = 'filesystem',"
        " 'path' = '/tmp/x', 'format' = 'json')"
    ),
)


def session_of(batch=False, **options):
    session = Session(lambda: options, batch)
    for text in TABLES:
        if batch:
            text = text.replace("'datagen'", "'datagen', 'number-of-rows' = '9'")
        session.create_table(parse_statement(text))
    return session


_session = functools.cache(session_of)


def sink_of(session, text):
    """The logical plan of a query or an INSERT, with a sink."""
    statement = parse_statement(text)
    if text.startswith("INSERT"):
        return session.bind_insert(statement)
    node = session.bind_text(text)
    return ExternalSink(node.schema, node, "result", ChangeKinds.ALL)


def physical(*texts, batch=False):
    """The physical plans of statements that run together, each below its sink."""
    session = session_of(batch)
    return physical_plan([sink_of(session, text) for text in texts], session.settings())


def names(text, batch=False):
    """The names of a plan's nodes, from the sink to the sources."""
    (node,) = physical(text, batch=batch)
    found, waiting = [], [node]
    while waiting:
        node = waiting.pop(0)
        found.append(node.name)
        waiting[:0] = node.inputs
    return found


def explained(text, batch=False):
    """The physical plan as EXPLAIN CHANGELOG_MODE shows it, a line for each node."""
    session = _session(batch)
    whole = explain([sink_of(session, text)], session.settings(), changelog_mode=True)
    _, part = whole.split("== Optimized Physical Plan ==\n")
    return part.split("\n==")[0].strip().splitlines()


def bound(text, batch=False):
    """The logical plan as EXPLAIN shows it, a line for each node."""
    return list(_lines(sink_of(_session(batch), text), ""))


def _lines(node, indent):
    yield f"{indent}+- {node.describe()}" if indent else node.describe()
    for source in node.inputs:
        yield from _lines(source, f"{indent}   ")
