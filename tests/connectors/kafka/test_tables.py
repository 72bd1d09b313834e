"""Tables of Kafka's topics."""

from __future__ import annotations

import json
from itertools import islice

import pytest

from pyflink_on_spark.errors import PyFlinkOnSparkError
from pyflink_on_spark.table import StreamTableEnvironment

BOUNDED = "'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset'"


@pytest.fixture
def t_env(env):
    env.set_parallelism(1)
    return StreamTableEnvironment.create(env)


def table(t_env, kafka, name, columns, topic, *options, connector="kafka"):
    servers = f"'properties.bootstrap.servers' = '{kafka.servers}'"
    named = f"'connector' = '{connector}', 'topic' = '{topic}'"
    given = ", ".join([named, servers, *options])
    t_env.execute_sql(f"CREATE TABLE {name} ({columns}) WITH ({given})")


def rows(t_env, text):
    with t_env.execute_sql(text).collect() as found:
        return [tuple(row) for row in found]


def test_there_and_back(kafka, t_env):
    topic = kafka.topic(1)
    table(t_env, kafka, "t", "id INT, name STRING", topic, "'format' = 'json'", BOUNDED)
    t_env.execute_sql("INSERT INTO t VALUES (1, 'a'), (2, CAST(NULL AS STRING))").wait()
    assert [message.value() for message in kafka.read(topic)] == [
        b'{"id":1,"name":"a"}', b'{"id":2,"name":null}',
    ]  # fmt: skip
    assert rows(t_env, "SELECT name, id + 1 FROM t") == [("a", 2), (None, 3)]


def test_metadata(kafka, t_env):
    topic = kafka.topic(1)
    kafka.write(topic, ['{"id":1}', None, '{"id":2}'], 0, since=1_700_000_000_123)
    columns = (
        "at_ TIMESTAMP_LTZ(3) METADATA FROM 'timestamp', id INT, "
        "`offset` BIGINT METADATA VIRTUAL, `partition` INT METADATA VIRTUAL, "
        "name STRING METADATA FROM 'topic' VIRTUAL"
    )
    table(t_env, kafka, "t", columns, topic, "'format' = 'json'", BOUNDED)
    t_env.get_config().set_local_timezone("UTC")
    assert rows(t_env, "SELECT CAST(at_ AS STRING), id, `offset`, `partition`, name FROM t") == [
        ("2023-11-14 22:13:20.123", 1, 0, 0, topic), ("2023-11-14 22:13:20.125", 2, 2, 0, topic),
    ]  # fmt: skip


def test_a_written_timestamp(kafka, t_env):
    topic = kafka.topic(1)
    table(t_env, kafka, "t", "ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp', id INT", topic,
          "'format' = 'json'")  # fmt: skip
    t_env.execute_sql("INSERT INTO t VALUES (TO_TIMESTAMP_LTZ(1700000000123, 3), 7)").wait()
    (message,) = kafka.read(topic)
    assert (message.timestamp()[1], message.value()) == (1_700_000_000_123, b'{"id":7}')


def test_keys(kafka, t_env):
    topic = kafka.topic(1)
    table(t_env, kafka, "t", "k_id INT, v STRING", topic, "'key.format' = 'json'",
          "'key.fields' = 'k_id'", "'key.fields-prefix' = 'k_'", "'value.format' = 'json'",
          "'value.fields-include' = 'EXCEPT_KEY'", BOUNDED)  # fmt: skip
    t_env.execute_sql("INSERT INTO t VALUES (1, 'a')").wait()
    (message,) = kafka.read(topic)
    assert (message.key(), message.value()) == (b'{"id":1}', b'{"v":"a"}')
    assert rows(t_env, "SELECT v, k_id FROM t") == [("a", 1)]


def test_changes(kafka, t_env):
    topic = kafka.topic(1)
    before, after = {"id": 1, "v": "a"}, {"id": 1, "v": "b"}
    kafka.write(topic, [
        json.dumps({"before": None, "after": before, "op": "c"}),
        json.dumps({"before": before, "after": after, "op": "u"}),
    ], 0)  # fmt: skip
    columns = "id INT PRIMARY KEY NOT ENFORCED, v STRING"
    table(t_env, kafka, "t", columns, topic, "'format' = 'debezium-json'", BOUNDED)
    with t_env.execute_sql("SELECT * FROM t").collect() as found:
        assert [str(row.get_row_kind()) for row in found] == ["+I", "-U", "+U"]
    target = kafka.topic(1)
    table(t_env, kafka, "u", "id INT PRIMARY KEY NOT ENFORCED, v STRING", target,
          "'key.format' = 'json'", "'value.format' = 'json'", connector="upsert-kafka")  # fmt: skip
    t_env.execute_sql("INSERT INTO u SELECT * FROM t").wait()
    assert [(m.key(), m.value()) for m in kafka.read(target)] == [
        (b'{"id":1}', b'{"id":1,"v":"a"}'), (b'{"id":1}', b'{"id":1,"v":"b"}'),
    ]  # fmt: skip


def test_rows_that_a_filter_takes_back(kafka, t_env):
    target = kafka.topic(1)
    table(t_env, kafka, "u", "id INT PRIMARY KEY NOT ENFORCED, n BIGINT", target,
          "'key.format' = 'json'", "'value.format' = 'json'", connector="upsert-kafka")  # fmt: skip
    counts = "SELECT x, COUNT(*) AS n FROM (VALUES (1), (1), (1)) AS v (x) GROUP BY x"
    t_env.execute_sql(f"INSERT INTO u SELECT * FROM ({counts}) WHERE n < 2").wait()
    assert [(m.key(), m.value()) for m in kafka.read(target)] == [
        (b'{"id":1}', b'{"id":1,"n":1}'), (b'{"id":1}', None),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["'format' = 'json'"], "properties.group.id"),
        (["'format' = 'nope'", BOUNDED], "Could not find any factory for identifier 'nope'"),
        (["'format' = 'json'", "'scan.startup.mode' = 'timestamp'"], "timestamp-millis"),
        (["'format' = 'json'", "'nope' = '1'", BOUNDED], "Unsupported options"),
        (["'format' = 'json'", "'key.fields' = 'id'", BOUNDED], "key format"),
    ],
)
def test_what_is_wrong(kafka, t_env, options, text):
    table(t_env, kafka, "t", "id INT", "topic", *options)
    with pytest.raises(PyFlinkOnSparkError, match=text):
        t_env.sql_query("SELECT * FROM t")


def test_a_corrupt_record_is_named(kafka, t_env):
    topic = kafka.topic(1)
    kafka.write(topic, ["nonsense"], 0)
    table(t_env, kafka, "t", "id INT", topic, "'format' = 'json'", BOUNDED)
    with pytest.raises(PyFlinkOnSparkError, match="Failed to deserialize JSON 'nonsense'"):
        rows(t_env, "SELECT * FROM t")


EVENT = "k INT, at_ TIMESTAMP(3), WATERMARK FOR at_ AS at_"
WINDOWS = """
    SELECT CAST(window_start AS STRING), COUNT(*)
    FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR({}), INTERVAL '10' SECOND))
    GROUP BY window_start, window_end
"""


def events(kafka, topic, partition, minute):
    """Write an event for each second of a minute."""
    lines = [f'{{"k":{n},"at_":"2024-01-01 00:{minute:02}:{n:02}"}}' for n in range(60)]
    kafka.write(topic, lines, partition)


def counts(*minutes):
    """Return how many events each window has; those of a minute twice are twice as many."""
    return sorted(
        (f"2024-01-01 00:{minute:02}:{ten}0.000", 10 * minutes.count(minute))
        for minute in set(minutes)
        for ten in range(6)
    )


@pytest.mark.parametrize("computed", [False, True])
def test_a_partition_that_is_ahead_makes_no_rows_of_others_late(kafka, t_env, computed):
    t_env.get_config().set("pyflink-on-spark.watermark-interval-elements", "1")
    topic = kafka.topic(2)
    for minute in (1, 2, 3):
        events(kafka, topic, 0, minute)
    for minute in (1, 2):
        events(kafka, topic, 1, minute)
    columns, time = EVENT, "at_"
    if computed:
        columns = "k INT, at_ TIMESTAMP(3), ts AS at_ + INTERVAL '0' SECOND, WATERMARK FOR ts AS ts"
        time = "ts"
    table(t_env, kafka, "t", columns, topic, "'format' = 'json'", BOUNDED)
    assert sorted(rows(t_env, WINDOWS.format(time))) == counts(1, 2, 3, 1, 2)


def test_two_tables_of_one_topic_have_their_own_watermarks(kafka, t_env):
    """Both are read in one subtask; the second's delay keeps its windows from being late."""
    t_env.get_config().set("pyflink-on-spark.watermark-interval-elements", "1")
    topic = kafka.topic(1)
    for minute in (3, 1):
        events(kafka, topic, 0, minute)
    for name, delay in (("t", 0), ("late", 5)):
        columns = EVENT.replace("AS at_", f"AS at_ - INTERVAL '{delay}' MINUTE")
        table(t_env, kafka, name, columns, topic, "'format' = 'json'", BOUNDED)
    windows = WINDOWS.format("at_")
    both = f"{windows} UNION ALL {windows.replace('TABLE t', 'TABLE late')}"
    assert sorted(rows(t_env, both)) == sorted([*counts(3), *counts(1, 3)])


def test_watermarks_of_changes(kafka, t_env):
    topic = kafka.topic(1)
    before, after = [{"k": k, "at_": "2024-01-01 00:00:01"} for k in (1, 2)]
    kafka.write(topic, [
        json.dumps({"before": None, "after": before, "op": "c"}),
        json.dumps({"before": before, "after": after, "op": "u"}),
    ], 0)  # fmt: skip
    table(t_env, kafka, "t", EVENT, topic, "'format' = 'debezium-json'", BOUNDED)
    with t_env.execute_sql("SELECT k FROM t").collect() as found:
        assert [str(row.get_row_kind()) for row in found] == ["+I", "-U", "+U"]


@pytest.mark.parametrize("computed", [False, True])
def test_each_partition_of_an_upserted_table_has_a_watermark(kafka, t_env, computed):
    """A partition that is ahead does not end the time of versions in another one."""
    t_env.get_config().set("pyflink-on-spark.watermark-interval-elements", "1")
    orders, rates = kafka.topic(1), kafka.topic(2)
    events(kafka, orders, 0, 1)
    ahead = [f'{{"k":{n}}}' for n in range(100, 5100)]
    for minute in (0, 2, 3):
        kafka.write(rates, [rate(minute)] * 5000, 0, keys=ahead)
    kafka.write(rates, [rate(0)] * 60, 1, keys=[f'{{"k":{n}}}' for n in range(60)])
    kafka.write(rates, [None], 0, keys=ahead[:1])
    table(t_env, kafka, "orders", EVENT, orders, "'format' = 'json'", BOUNDED)
    columns = "k INT PRIMARY KEY NOT ENFORCED, at_ TIMESTAMP(3) NOT NULL, rate INT, "
    columns += (
        "ts AS at_ + INTERVAL '0' SECOND, WATERMARK FOR ts AS ts"
        if computed
        else ("WATERMARK FOR at_ AS at_ - INTERVAL '1' SECOND")
    )
    table(t_env, kafka, "rates", columns, rates, "'key.format' = 'json'", "'value.format' = 'json'",
          "'value.fields-include' = 'EXCEPT_KEY'", "'scan.bounded.mode' = 'latest-offset'",
          connector="upsert-kafka")  # fmt: skip
    text = """
        SELECT o.k, r.rate FROM orders AS o
        LEFT JOIN rates FOR SYSTEM_TIME AS OF o.at_ AS r ON o.k = r.k
    """
    assert sorted(rows(t_env, text)) == [(k, 0) for k in range(60)]


def rate(minute):
    """Return the value of a version that begins with a minute."""
    return f'{{"at_":"2024-01-01 00:{minute:02}:00","rate":{minute}}}'


def test_watermarks_pass_before_the_end(kafka, t_env):
    """An unbounded job emits the windows that all partitions have passed, and no others."""
    topic = kafka.topic(2)
    for partition, minute in ((0, 1), (0, 3), (1, 1), (1, 2)):
        events(kafka, topic, partition, minute)
    options = ["'scan.startup.mode' = 'earliest-offset'", "'properties.group.id' = 'g'"]
    table(t_env, kafka, "t", EVENT, topic, "'format' = 'json'", *options)
    found = first_rows(t_env, WINDOWS.format("at_"), 11)
    assert sorted(found) == counts(1, 1, 2)[:-1], "the last second of the minute is not over"


def test_a_silent_partition_is_left_out(kafka, t_env):
    t_env.get_config().set("table.exec.source.idle-timeout", "300 ms")
    topic = kafka.topic(2)
    events(kafka, topic, 0, 1)
    options = ["'scan.startup.mode' = 'earliest-offset'", "'properties.group.id' = 'g'"]
    table(t_env, kafka, "t", EVENT, topic, "'format' = 'json'", *options)
    assert sorted(first_rows(t_env, WINDOWS.format("at_"), 5)) == counts(1)[:-1]


def first_rows(t_env, text, count):
    with t_env.execute_sql(text).collect() as found:
        return [tuple(row) for row in islice(found, count)]
