"""State of one query is not taken for that of another one, and is found where a query has moved."""

from __future__ import annotations

import pytest

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._job.checkpoints.checkpoint_settings import layout_of
from pyflink_on_spark._runtime.contract.state_meaning import heirs_of
from pyflink_on_spark.state import CheckpointContents
from pyflink_on_spark.testing import local_engine
from pyflink_on_spark.tools.check.command import main as check
from pyflink_on_spark.tools.plan.recording import recorded_jobs
from tests.table.query_runs import World

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _in_process():
    with local_engine():
        yield


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


SUM = "SELECT k, COUNT(*) AS n, SUM(v) AS s FROM t GROUP BY k"
TOP = (
    "SELECT k, v, w FROM (SELECT k, v, w, ROW_NUMBER() OVER (PARTITION BY k ORDER BY {}) AS n "
    "FROM t) WHERE n <= {}"
)
JOIN = "SELECT a.k, a.v, b.w FROM t AS a {} JOIN t AS b ON a.k = b.k AND a.{} > b.w"
OVER = (
    "SELECT k, v, SUM({}) OVER (PARTITION BY k ORDER BY {} ROWS BETWEEN {} PRECEDING "
    "AND CURRENT ROW) AS s FROM timed"
)
WINDOW = (
    "SELECT k, window_end, {} AS n FROM TABLE({}(TABLE e, DESCRIPTOR(ts), {})) "
    "GROUP BY k, window_start, window_end"
)
ONE = "INTERVAL '10' SECOND"
LAST = (
    "SELECT k, v FROM (SELECT k, v, ROW_NUMBER() OVER (PARTITION BY {} ORDER BY {}) AS n "
    "FROM timed) WHERE n = 1"
)
TEMPORAL = (
    "SELECT a.k, a.v, b.w FROM e AS a {} JOIN versions FOR SYSTEM_TIME AS OF a.ts AS b ON {} = b.k"
)
MATCH = (
    "SELECT * FROM timed MATCH_RECOGNIZE (PARTITION BY k ORDER BY {} MEASURES {} AS x "
    "PATTERN ({}) {} DEFINE {})"
)
MATCHED = ("ts", "A.v", "A B+ C", "", "B AS B.v > 100")
INTERVAL = (
    "SELECT a.k, b.v FROM e AS a {} JOIN e AS b ON a.k = b.k AND "
    "a.ts BETWEEN b.ts AND b.ts + INTERVAL '{}' SECOND"
)


@pytest.mark.parametrize(
    ("after", "told"),
    [
        ("SELECT k, COUNT(*) AS n, SUM(w) AS s FROM t GROUP BY k", "SUM(t.w#3 BIGINT)"),
        ("SELECT k, SUM(v) AS s, COUNT(*) AS n FROM t GROUP BY k", "SUM(t.v#2 BIGINT) AS BIGINT, "),
        ("SELECT k, COUNT(*) AS n, MAX(v) AS s FROM t GROUP BY k", "MAX(t.v#2 BIGINT)"),
        ("SELECT k, COUNT(*) AS n, SUM(v * 2) AS s FROM t GROUP BY k", "SUM((t.v#2 * 2) BIGINT)"),
        ("SELECT g, COUNT(*) AS n, SUM(v) AS s FROM t GROUP BY g", "keys: t.g#4 STRING"),
        ("SELECT k || '1', COUNT(*) AS n, SUM(v) FROM t GROUP BY k || '1'", "(t.k#1 || '1')"),
        ("SELECT k, COUNT(DISTINCT v) AS n, SUM(v) AS s FROM t GROUP BY k", "COUNT(DISTINCT t.v#2"),
        ("SELECT k, COUNT(*) FILTER (WHERE v > 1), SUM(v) FROM t GROUP BY k", "FILTER (WHERE "),
        ("SELECT k, COUNT(*) AS n FROM t GROUP BY k", "aggregates: COUNT(*) AS BIGINT NOT NULL;"),
        ("SELECT k, COUNT(*), SUM(v), MAX(w) FROM t GROUP BY k", "MAX(t.w#3 BIGINT)"),
    ],
)
def test_another_aggregate_does_not_take_the_state(world, after, told):
    path, _ = world.run(SUM)
    with pytest.raises(CheckpointError) as refused:
        world.run(after, savepoint=path)
    message = str(refused.value)
    assert ":GroupAggregate' that means something else in this job" in message
    there, here = message.splitlines()[1:3]
    assert there.startswith("  There: GroupAggregate; keys: t.k#1 STRING; aggregates: COUNT(*)")
    assert "SUM(t.v#2 BIGINT) AS BIGINT" in there
    assert here.startswith("  Here: GroupAggregate; ")
    assert told in here
    assert "pyflink-on-spark.changed-state=DROP" in message


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ("k STRING, w BIGINT, v BIGINT, g STRING", "SUM(t.v#3 BIGINT)"),
        ("g STRING, v BIGINT, w BIGINT, k STRING", "keys: t.k#4 STRING"),
        ("k STRING, v INT, w BIGINT, g STRING", "SUM(t.v#2 INT)"),
        ("k VARCHAR(9), v BIGINT, w BIGINT, g STRING", "keys: t.k#1 VARCHAR(9)"),
    ],
)
def test_another_source_column_does_not_take_the_state(world, columns, told):
    path, _ = world.run(SUM)
    with pytest.raises(CheckpointError) as refused:
        world.run(SUM, columns=columns, savepoint=path)
    assert told in str(refused.value).splitlines()[2]


def test_a_number_that_has_become_a_text(world):
    path, _ = world.run("SELECT k, MAX(v) AS m FROM t GROUP BY k")
    with pytest.raises(CheckpointError, match=r"Here: .*MAX\(t.v#2 STRING\) AS STRING"):
        world.run(
            "SELECT k, MAX(v) AS m FROM t GROUP BY k",
            columns="k STRING, v STRING, w BIGINT, g STRING",
            savepoint=path,
        )


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (TOP.format("v", 2), TOP.format("v DESC", 2), "order: t.v#2 BIGINT DESC NULLS LAST"),
        (TOP.format("v", 2), TOP.format("w", 2), "order: t.w#3 BIGINT ASC"),
        (TOP.format("v", 2), TOP.format("v", 3), "ranks: 1 to 3"),
        (JOIN.format("", "v"), JOIN.format("", "w"), "(t.w#3 > t.w#3)"),
        (JOIN.format("", "v"), JOIN.format("LEFT", "v"), "type: LEFT"),
        (JOIN.format("LEFT", "v"), JOIN.format("FULL", "v"), "type: FULL"),
        (
            "SELECT k FROM t WHERE v IN (SELECT w FROM t)",
            "SELECT k FROM t WHERE v NOT IN (SELECT w FROM t WHERE w > 0)",
            "type: ANTI",
        ),
        (
            OVER.format("w", "ts", 3), OVER.format("w", "ts", 4),
            "frame: ROWS BETWEEN 4 PRECEDING AND CURRENT ROW",
        ),
        (OVER.format("w", "ts", 3), OVER.format("v", "ts", 3), "SUM(timed.v#2"),
        (OVER.format("w", "ts", 3), OVER.format("w", "p", 3), "time: PROCTIME"),
        (
            WINDOW.format("COUNT(*)", "TUMBLE", ONE),
            WINDOW.format("COUNT(*)", "TUMBLE", "INTERVAL '20' SECOND"),
            "size 20000 ms",
        ),
        (
            WINDOW.format("COUNT(*)", "TUMBLE", ONE),
            WINDOW.format("COUNT(*)", "TUMBLE", f"{ONE}, INTERVAL '2' SECOND"),
            "size 10000 ms, offset 2000 ms",
        ),
        (
            WINDOW.format("COUNT(*)", "HOP", f"INTERVAL '5' SECOND, {ONE}"),
            WINDOW.format("COUNT(*)", "HOP", f"INTERVAL '2' SECOND, {ONE}"),
            "step 2000 ms",
        ),
        (
            WINDOW.format("COUNT(*)", "TUMBLE", ONE), WINDOW.format("SUM(v)", "TUMBLE", ONE),
            "SUM(timed.v#2 BIGINT)",
        ),
        (
            WINDOW.format("COUNT(*)", "CUMULATE", f"INTERVAL '5' SECOND, {ONE}"),
            WINDOW.format("COUNT(*)", "HOP", f"INTERVAL '5' SECOND, {ONE}"),
            "window: HOP",
        ),
        (
            f"SELECT k, COUNT(*) FROM timed GROUP BY k, SESSION(ts, {ONE})",
            "SELECT k, COUNT(*) FROM timed GROUP BY k, SESSION(ts, INTERVAL '5' SECOND)",
            "size 5000 ms",
        ),
        (LAST.format("k", "ts DESC"), LAST.format("k", "ts"), "ASC NULLS FIRST"),
        (LAST.format("k", "ts DESC"), LAST.format("g", "ts DESC"), "keys: timed.g#4"),
        (LAST.format("k", "ts DESC"), LAST.format("k", "p DESC"), "time: PROCTIME"),
        (TEMPORAL.format("", "a.k"), TEMPORAL.format("LEFT", "a.k"), "type: LEFT"),
        (TEMPORAL.format("", "a.k"), TEMPORAL.format("", "a.g"), "timed.g#4 STRING = timed.k#1"),
        (INTERVAL.format("", 5), INTERVAL.format("", 6), "bounds: from -6000 to 0 ms"),
        (INTERVAL.format("", 5), INTERVAL.format("LEFT", 5), "type: LEFT"),
        (
            MATCH.format(*MATCHED), MATCH.format("ts", "A.v", "A B+? C", "", "B AS B.v > 100"),
            "PATTERN_QUANTIFIER(B, 1, -1, true)",
        ),
        (
            MATCH.format(*MATCHED), MATCH.format("ts", "A.v", "A B+ C", "", "B AS B.w > 100"),
            "B AS (LAST(B.timed.w#3, 0) > ",
        ),
        (
            MATCH.format(*MATCHED), MATCH.format("ts", "A.v", "A B+ C", "", "B AS SUM(v) > 100"),
            "B AS (*.SUM(timed.v#2 BIGINT) > ",
        ),
        (
            MATCH.format(*MATCHED),
            MATCH.format("ts", "A.v", "A B+ C", f"WITHIN {ONE}", "B AS B.v > 100"),
            "within: 10000 ms",
        ),
        (
            MATCH.format(*MATCHED), MATCH.format("p", "A.v", "A B+ C", "", "B AS B.v > 100"),
            "time: PROCTIME",
        ),
        ("SELECT k FROM t LIMIT 10", "SELECT k FROM t LIMIT 12", "ranks: 1 to 12"),
        (
            "SELECT DISTINCT k, v FROM t", "SELECT DISTINCT k, w FROM t",
            "keys: t.k#1 STRING, t.w#3 BIGINT",
        ),
        (
            "SELECT g, MAX(s) FROM (SELECT g, k, SUM(v) AS s FROM t GROUP BY g, k) GROUP BY g",
            "SELECT g, MAX(s) FROM (SELECT g, k, SUM(w) AS s FROM t GROUP BY g, k) GROUP BY g",
            "SUM(t.w#3 BIGINT)",
        ),
    ],
)  # fmt: skip
def test_another_operator_does_not_take_the_state(world, before, after, told):
    path, _ = world.run(before)
    assert world.run(before, rows=0, savepoint=path)
    with pytest.raises(CheckpointError, match="means something else in this job") as refused:
        world.run(after, savepoint=path)
    assert told in str(refused.value).splitlines()[2]


@pytest.mark.parametrize(
    "after",
    [
        SUM,
        "SELECT x, COUNT(*) AS y, SUM(z) AS z FROM (SELECT v AS z, k AS x FROM t) GROUP BY x",
        f"SELECT n + 1 - 1, s, UPPER(k), k FROM ({SUM})",
        "SELECT k, COUNT(*) AS n, SUM(v) AS s FROM t WHERE v > 0 GROUP BY k",
        f"SELECT * FROM ({SUM}) WHERE s > 8",
        "SELECT k, COUNT(*) AS n, SUM(v) AS s FROM t GROUP BY k HAVING SUM(v) > 8",
    ],
)
@pytest.mark.parametrize("parallelism", [2, 3])
def test_what_is_around_an_aggregate_may_change(world, after, parallelism):
    path, _ = world.run(SUM)
    world.add("a,5,50,x\n")
    _, printed = world.run(after, rows=1, savepoint=path, parallelism=parallelism)
    assert "9" in printed[-1]
    assert "3" in printed[-1]


def test_what_is_computed_of_matches_may_change(world):
    path, _ = world.run(MATCH.format(*MATCHED))
    told = MATCH.format("ts", "C.v + A.v", *MATCHED[2:])
    assert world.run(f"SELECT k AS a, x + 1 AS b FROM ({told})", rows=0, savepoint=path)


def test_state_is_found_where_a_query_has_moved(world):
    by_k, by_g = SUM, "SELECT g, COUNT(*) AS n, SUM(w) AS s FROM t GROUP BY g"
    path, _ = world.run({"o1": by_k, "o2": by_g})
    world.add("a,5,50,y\n")
    most = "SELECT k, MAX(v) AS m FROM t GROUP BY k"
    path, printed = world.run({"o3": most, "o2": by_g, "o1": by_k}, rows=1, savepoint=path)
    assert {line for line in printed if "+" in line} == {
        "o3:+I[a, 5]", "o2:+U[y, 2, 70]", "o1:+U[a, 3, 9]"
    }  # fmt: skip
    world.add("a,6,60,x\n")
    _, printed = world.run({"o2": by_g, "o1": by_k, "o3": most}, rows=1, savepoint=path)
    assert {line for line in printed if "+" in line} == {
        "o2:+U[x, 3, 100]", "o1:+U[a, 4, 15]", "o3:+U[a, 6]"
    }  # fmt: skip


def test_a_query_that_is_gone_is_told_by_what_it_means(world):
    path, _ = world.run({"o1": SUM, "o2": "SELECT g, SUM(w) AS s FROM t GROUP BY g"})
    with pytest.raises(CheckpointError, match=r"has state of the operator '.*' \(Group"):
        world.run({"o1": SUM}, savepoint=path)
    ignore = {"execution.state-recovery.ignore-unclaimed-state": "true"}
    world.add("a,5,50,y\n")
    _, printed = world.run({"o1": SUM}, rows=1, savepoint=path, **ignore)
    assert printed[-1] == "o1:+U[a, 3, 9]"


def test_the_option_says_what_becomes_of_changed_state(world):
    path, _ = world.run(SUM)
    world.add("a,5,50,x\n")
    after = "SELECT k, COUNT(*) AS n, SUM(w) AS s FROM t GROUP BY k"
    option = "pyflink-on-spark.changed-state"
    with pytest.raises(CheckpointError):
        world.run(after, rows=1, savepoint=path, **{option: "refuse"})
    _, taken = world.run(after, rows=1, savepoint=path, **{option: "take"})
    assert taken == ["-U[a, 2, 4]", "+U[a, 3, 54]"]
    dropped_at, dropped = world.run(after, rows=1, savepoint=path, **{option: "drop"})
    assert dropped == ["+I[a, 1, 50]"]
    world.add("a,6,60,x\n")
    assert world.run(after, rows=1, savepoint=dropped_at)[1][-1] == "+U[a, 2, 110]"
    with pytest.raises(CheckpointError):
        world.run(SUM, rows=1, savepoint=dropped_at)


TOLD = (
    "GroupAggregate; keys: t.k#1 STRING; aggregates: COUNT(*) AS BIGINT NOT NULL, "
    "SUM(t.%s BIGINT) AS BIGINT; rows: added"
)
SCRIPT = """
from pyflink.common import Configuration
from pyflink.table import EnvironmentSettings, TableEnvironment
t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
t_env.get_config().set("pyflink-on-spark.changed-state", "{option}")
t_env.execute_sql("CREATE TABLE t (k STRING, v BIGINT, w BIGINT, g STRING) WITH ("
    "'connector' = 'filesystem', 'path' = '{folder}/in', 'format' = 'csv', "
    "'source.monitor-interval' = '20 ms')")
t_env.execute_sql("CREATE TABLE seen (k STRING) WITH ('connector' = 'print')")
t_env.execute_sql("CREATE TABLE o (k STRING, n BIGINT, s BIGINT) WITH ('connector' = 'print')")
both = t_env.create_statement_set()
{more}
both.add_insert_sql("INSERT INTO seen SELECT k FROM t")
both.add_insert_sql("INSERT INTO o {query}")
both.execute()
"""


@pytest.mark.parametrize(
    ("query", "more", "option", "status", "told"),
    [
        (SUM, "", "REFUSE", 0, "continues with its state:\n  0:t[TableSourceScan]\n  6:GroupAggr"),
        (
            SUM.replace("(v)", "(w)"), "", "REFUSE", 1,
            f"something else in this job.\n  There: {TOLD % 'v#2'}\n  Here: {TOLD % 'w#3'}\n",
        ),
        (SUM.replace("(v)", "(w)"), "", "TAKE", 0, "continues with its state:\n"),
        (
            SUM.replace("(v)", "(w)"), "", "DROP", 0,
            "is left out:\n  state of '6:GroupAggregate', which means something else\n\nis not in",
        ),
        (
            SUM, "both.add_insert_sql('INSERT INTO o SELECT g, MIN(v), MIN(w) FROM t GROUP BY g')",
            "REFUSE", 0, "  10:GroupAggregate (6:GroupAggregate there, which means the same)\n",
        ),
    ],
)  # fmt: skip
def test_check_says_the_same(world, tmp_path, capsys, query, more, option, status, told):
    path, _ = world.run(SUM)
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(folder=tmp_path, query=query, more=more, option=option))
    capsys.readouterr()
    assert check([str(script), "--savepoint", path]) == status
    assert told in capsys.readouterr().out


UPSERTS = """
from pyflink.table import EnvironmentSettings, TableEnvironment
t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
t_env.execute_sql("CREATE TABLE u (k STRING, v INT, PRIMARY KEY ({key}) NOT ENFORCED) WITH ("
    "'connector' = 'upsert-kafka', 'topic' = 'u', 'properties.bootstrap.servers' = 'nowhere:1', "
    "'key.format' = 'json', 'value.format' = 'json')")
t_env.execute_sql("CREATE TABLE o (s INT) WITH ('connector' = 'print')")
t_env.execute_sql("INSERT INTO o SELECT SUM({column}) FROM u WHERE v > 1")
"""


@pytest.mark.parametrize(
    ("key", "column", "told"),
    [
        ("k", "v", None),
        (
            "v",
            "v",
            "ChangelogNormalize; keys: u.v INT NOT NULL; columns: u.k STRING, u.v INT NOT NULL",
        ),
        ("k", "v + 1", "SUM((u.v + 1) INT)"),
    ],
)
def test_upserted_rows_and_what_is_made_of_them(tmp_path, capsys, key, column, told):
    """The meanings of two programs are compared, of which none runs."""
    meanings = []
    for number, given in enumerate([{"key": "k", "column": "v"}, {"key": key, "column": column}]):
        script = tmp_path / f"script{number}.py"
        script.write_text(UPSERTS.format(**given))
        (job,) = recorded_jobs("check", script, [])
        meanings.append(layout_of(list(job.operators()), []).meanings)
    before, after = meanings
    found = heirs_of(list(before), before, after, list(before))
    if told is None:
        assert (found.names, found.changed) == ({}, ())
        return
    changed = [str(after[found.name(name) or name]) for name in found.changed]
    assert any(told in text for text in changed)


def test_a_savepoint_tells_what_state_means(world):
    path, _ = world.run(SUM)
    (operator,) = CheckpointContents(path).operators()
    assert operator.meaning == {
        "kind": "GroupAggregate",
        "keys": ["t.k#1 STRING"],
        "aggregates": ["COUNT(*) AS BIGINT NOT NULL", "SUM(t.v#2 BIGINT) AS BIGINT"],
        "rows": "added",
    }
