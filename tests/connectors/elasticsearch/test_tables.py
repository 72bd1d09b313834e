"""Tables of a server that speaks OpenSearch's API."""

from __future__ import annotations

import datetime

import pytest

from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.errors import PyFlinkOnSparkError
from pyflink_on_spark.table import StreamTableEnvironment


@pytest.fixture
def t_env(local_engine):
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    found = StreamTableEnvironment.create(env)
    found.get_config().set_local_timezone("UTC")
    return found


def create(t_env, url, columns, *options, index="i", connector="elasticsearch-7"):
    given = ", ".join((f"'connector' = '{connector}'", f"'hosts' = '{url}'",
                       f"'index' = '{index}'", *options))  # fmt: skip
    t_env.execute_sql(f"CREATE TABLE t ({columns}) WITH ({given})")


def refusal(t_env, text):
    with pytest.raises(PyFlinkOnSparkError) as caught:
        t_env.execute_sql(text).wait()
    return str(caught.value)


@pytest.mark.parametrize("connector", ["elasticsearch-7", "elasticsearch-8", "opensearch"])
def test_rows_become_documents(search, t_env, connector):
    columns = "id INT, name STRING, at_ TIMESTAMP(3), tags ARRAY<STRING>, r ROW<a INT, b DOUBLE>"
    create(t_env, search.url, columns, connector=connector)
    nested = "CAST(ROW(1, 2.5) AS ROW<a INT, b DOUBLE>)"
    row = f"TIMESTAMP '2020-01-02 03:04:05.678', ARRAY['x', 'ü'], {nested}"
    t_env.execute_sql(
        f"INSERT INTO t VALUES (1, 'a', {row}), (2, CAST(NULL AS STRING), {row})"
    ).wait()
    common = {"at_": "2020-01-02 03:04:05.678", "tags": ["x", "ü"], "r": {"a": 1, "b": 2.5}}
    found = sorted(search.documents("i").values(), key=lambda document: document["id"])
    assert found == [{"id": 1, "name": "a", **common}, {"id": 2, "name": None, **common}]


def test_a_text_that_is_a_document(search, t_env):
    create(t_env, search.url, "document STRING", "'format' = 'raw'")
    t_env.execute_sql("""INSERT INTO t VALUES ('{\n  "a": "b\\n"\r\n}')""").wait()
    assert list(search.documents("i").values()) == [{"a": "b\n"}]


@pytest.mark.parametrize("text", [
    '{}\n{"delete":{"_index":"other","_id":"1"}}', '{},"script":{"source":"x"}', "[]", "", "x",
    '{"a": NaN}', "[" * 100_000,
], ids=str.__len__)  # fmt: skip
def test_a_text_that_would_be_other_actions(search, t_env, text):
    """Records of strangers had removed documents of any index."""
    create(t_env, search.url, "document STRING", "'format' = 'raw'")
    told = refusal(t_env, f"INSERT INTO t VALUES ('{text}')")
    assert "a document for Elasticsearch is a JSON object" in told
    assert search.indices() == []


def test_a_primary_key_is_the_id(search, t_env):
    create(t_env, search.url, "word STRING, n BIGINT, PRIMARY KEY (word) NOT ENFORCED")
    words = "(VALUES ('a'), ('b'), ('a'), ('a')) AS w (word)"
    t_env.execute_sql(f"INSERT INTO t SELECT word, COUNT(*) FROM {words} GROUP BY word").wait()
    assert search.documents("i") == {"a": {"word": "a", "n": 3}, "b": {"word": "b", "n": 1}}


def test_documents_that_are_taken_back_are_removed(search, t_env):
    create(t_env, search.url, "word STRING, n BIGINT, PRIMARY KEY (word) NOT ENFORCED")
    counts = (
        "SELECT word, COUNT(*) AS n FROM (VALUES ('a'), ('b'), ('a')) AS w (word) GROUP BY word"
    )
    t_env.execute_sql(f"INSERT INTO t SELECT * FROM ({counts}) WHERE n < 2").wait()
    assert search.documents("i") == {"b": {"word": "b", "n": 1}}


def test_the_parts_of_an_id(search, t_env):
    columns = (
        "d DATE, m TIMESTAMP(3), s TIMESTAMP(6), h TIME, b BOOLEAN, p DECIMAL(5, 2), c CHAR(2), "
        "PRIMARY KEY (d, m, s, h, b, p, c) NOT ENFORCED"
    )
    create(t_env, search.url, columns, "'document-id.key-delimiter' = '$'")
    t_env.execute_sql(
        "INSERT INTO t VALUES (DATE '2020-01-02', TIMESTAMP '2020-01-02 03:04:00', "
        "TIMESTAMP '2020-01-02 03:04:05.123456', TIME '03:04:05', TRUE, 1.50, 'xy')"
    ).wait()
    (identity,) = search.documents("i")
    assert identity == (
        "2020-01-02$2020-01-02T03:04$2020-01-02T03:04:05.123456$03:04:05$true$1.50$xy"
    )


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        ("logs-{s}", ["logs-a", "logs-b"]),
        ("{n}-logs", ["1-logs", "null-logs"]),
        ("logs-{d|yyyy.MM}-x", ["logs-2020.01-x", "logs-2021.12-x"]),
        ("{d|}", ["2020_01_02", "2021_12_31"]),
        ("at-{m|yyyy-MM-dd_HH}", ["at-2020-01-02_03", "at-2021-12-31_23"]),
        ("at-{z|yyyy-MM-dd_HH}", ["at-2020-01-02_01", "at-2021-12-31_21"]),
    ],
)
def test_dynamic_names(search, t_env, index, expected):
    t_env.get_config().set_local_timezone("Africa/Cairo")
    create(
        t_env,
        search.url,
        "s STRING, n INT, d DATE, m TIMESTAMP(3), z TIMESTAMP_LTZ(3)",
        index=index,
    )
    t_env.execute_sql(
        "INSERT INTO t SELECT s, n, d, m, CAST(m AS TIMESTAMP_LTZ(3)) FROM (VALUES "
        "('a', 1, DATE '2020-01-02', TIMESTAMP '2020-01-02 03:04:05'), "
        "('b', CAST(NULL AS INT), DATE '2021-12-31', TIMESTAMP '2021-12-31 23:59:59')"
        ") AS v (s, n, d, m)"
    ).wait()
    assert search.indices() == expected


def test_a_name_by_the_clock(search, t_env):
    create(t_env, search.url, "s STRING", index="logs-{now()|yyyy}")
    t_env.execute_sql("INSERT INTO t VALUES ('a')").wait()
    (name,) = search.indices()
    year = datetime.datetime.now(datetime.UTC).year
    assert name in {f"logs-{year}", f"logs-{year - 1}"}


def test_a_document_that_the_server_refuses(search, t_env):
    search.create("i", {"n": {"type": "integer"}})
    create(t_env, search.url, "n STRING")
    text = refusal(t_env, "INSERT INTO t VALUES ('1'), ('two')")
    assert "1 of 2 actions failed in Elasticsearch: " in text
    assert "[n]" in text


def test_failures_that_are_ignored(search, t_env):
    search.create("i", {"n": {"type": "integer"}})
    create(t_env, search.url, "n STRING", "'failure-handler' = 'ignore'")
    t_env.execute_sql("INSERT INTO t VALUES ('1'), ('two')").wait()
    assert list(search.documents("i").values()) == [{"n": "1"}]


@pytest.mark.parametrize(
    ("columns", "options", "text"),
    [
        ("s STRING", ["'index' = '{s}-{s}'"], "only support single dynamic index pattern"),
        ("s STRING", ["'index' = '{x}'"], "Unknown field 'x'"),
        ("s STRING", ["'index' = ''"], "'index' must not be empty"),
        ("d DATE", ["'index' = '{d}'"], "Unsupported type DATE of index field 'd'"),
        ("s STRING", ["'index' = '{s|yyyy}'"], "Unsupported type STRING"),
        ("d DATE", ["'index' = '{d|bb}'"], "Invalid index pattern"),
        ("s STRING", ["'hosts' = 'localhost:9200'"], "http://host_name:port"),
        ("s STRING", ["'hosts' = 'http://localhost'"], "missing port"),
        ("s STRING", ["'hosts' = 'http://a:1,http://b:1'"], "a semicolon is between two hosts"),
        ("s STRING", ["'username' = 'me'"], "must be set at the same time"),
        ("s STRING", ["'sink.bulk-flush.max-size' = '100 bytes'"], "MB granularity"),
        ("s STRING", ["'sink.bulk-flush.max-actions' = '-1'"], "must be at least 0"),
        ("s STRING", ["'failure-handler' = 'a.B'"], "fail, ignore or retry-rejected"),
        ("s STRING", ["'format' = 'debezium-json'"], "of rows"),
        ("s STRING", ["'document-type' = 'd'"], "document-type"),
        ("s STRING", ["'connector' = 'elasticsearch-6'"], "document-type"),
        ("a ARRAY<INT>, PRIMARY KEY (a) NOT ENFORCED", [], "illegal types: \\[ARRAY<INT> NOT NULL"),
    ],
)  # fmt: skip
def test_wrong_options(t_env, columns, options, text):
    given = {"'connector'": "'elasticsearch-7'", "'hosts'": "'http://h:1'", "'index'": "'i'"}
    given |= dict(option.split(" = ") for option in options)
    listed = ", ".join(f"{key} = {value}" for key, value in given.items())
    t_env.execute_sql(f"CREATE TABLE t ({columns}) WITH ({listed})")
    with pytest.raises(PyFlinkOnSparkError, match=text):
        t_env.execute_sql(f"INSERT INTO t SELECT CAST(NULL AS {columns.split()[1].rstrip(',')})")


def test_updates_need_a_key_and_a_name_that_stays(t_env):
    counts = "SELECT s, COUNT(*) FROM (VALUES ('a')) AS v (s) GROUP BY s"
    create(t_env, "http://h:1", "s STRING, n BIGINT")
    assert "doesn't support consuming update" in refusal(t_env, f"INSERT INTO t {counts}")
    t_env.execute_sql("DROP TABLE t")
    columns = "s STRING, n BIGINT, PRIMARY KEY (s) NOT ENFORCED"
    create(t_env, "http://h:1", columns, index="{now()|yyyy}")
    assert "named by the clock" in refusal(t_env, f"INSERT INTO t {counts}")


def test_a_table_cannot_be_read(t_env):
    create(t_env, "http://h:1", "s STRING")
    assert "source" in refusal(t_env, "SELECT * FROM t")


def test_passwords_are_hidden(t_env):
    create(t_env, "http://h:1", "s STRING", "'username' = 'me'", "'password' = 'hush'", index="{x}")
    assert "hush" not in refusal(t_env, "INSERT INTO t VALUES ('a')")


@pytest.mark.parametrize("options", [
    ("'username' = 'me'", "'pasword' = 'hush-hush'"),
    ("'sink.bulk-flush.max-actions' = 'x'", "'username' = 'hush-hush'", "'password' = 'hush-hush'"),
])  # fmt: skip
def test_secrets_with_mistakes_are_hidden(t_env, options):
    create(t_env, "http://me:hush-hush@h", "s STRING", *options)
    told = refusal(t_env, "INSERT INTO t VALUES ('a')").replace("'username'='hush-hush'", "")
    assert "Table options are" in told
    assert "hush-hush" not in told
