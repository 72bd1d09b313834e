"""When files of a streaming INSERT are finished, merged and announced, while its job runs."""

from __future__ import annotations

import time

import pytest
from pyflink.table import EnvironmentSettings, TableEnvironment

from compat_tests.tables import query

pytestmark = [
    pytest.mark.whole("cuts finish files and complete partitions at other moments"),
    pytest.mark.timed,
]

COMMIT = "sink.partition-commit."
ROLLING = "sink.rolling-policy."
SUCCESS = {COMMIT + "policy.kind": "success-file"}
MINUTES_OF_AN_HOUR = 60
LONGEST = 60


@pytest.fixture
def t_env():
    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    t_env.get_config().set("parallelism.default", "1")
    return t_env


def checkpoints(t_env, interval="200 ms"):
    t_env.get_config().set("execution.checkpointing.interval", interval)


def minutes(t_env, number=None, per_second=100):
    """A table with a row for each minute of some days."""
    bound = f", 'number-of-rows' = '{number}'" if number else ""
    t_env.execute_sql(
        "CREATE TABLE m (i INT, ts AS TIMESTAMPADD(MINUTE, i, TIMESTAMP '2024-01-01 00:00:00'), "
        "WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen', 'fields.i.kind' = 'sequence', "
        "'fields.i.start' = '0', 'fields.i.end' = '100000', "
        f"'rows-per-second' = '{per_second}'{bound})"
    )


def sink(t_env, folder, options, columns="i INT, dt STRING, hr STRING", by="dt, hr", form="csv"):
    given = "".join(f", '{key}' = '{value}'" for key, value in options.items())
    partitioned = f"PARTITIONED BY ({by})" if by else ""
    t_env.execute_sql(
        f"CREATE TABLE s ({columns}) {partitioned} WITH "
        f"('connector' = 'filesystem', 'path' = '{folder}', 'format' = '{form}'{given})"
    )


HOURS = "INSERT INTO s SELECT i, DATE_FORMAT(ts, 'yyyy-MM-dd'), DATE_FORMAT(ts, 'HH') FROM m"


class Running:
    """A job that runs until it is cancelled."""

    def __init__(self, t_env, insert):
        self._client = t_env.execute_sql(insert).get_job_client()

    def __enter__(self):
        return self

    def until(self, condition):
        """Wait for something that is not empty, and return it."""
        end = time.monotonic() + LONGEST
        while not (found := condition()):
            assert time.monotonic() < end, "nothing came"
            time.sleep(0.05)
        return found

    def __exit__(self, *error):
        self._client.cancel().result()


def data_files(folder):
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path for path in files if path.name[0] not in "._" and path.stat().st_size]


def markers(folder, name="_SUCCESS"):
    return sorted(str(path.parent.relative_to(folder)) for path in folder.rglob(name))


def lines(folder):
    return [line for path in data_files(folder) for line in path.read_text().splitlines()]


@pytest.mark.parametrize(
    ("delay", "lag"), [("0 s", 0), ("1 h", 1), ("2 h", 2)], ids=["none", "1 h", "2 h"]
)
def test_a_partition_is_complete_when_the_watermark_has_passed(t_env, tmp_path, delay, lag):
    checkpoints(t_env)
    minutes(t_env)
    sink(t_env, tmp_path, {
        **SUCCESS, COMMIT + "trigger": "partition-time", COMMIT + "delay": delay,
        "partition.time-extractor.timestamp-pattern": "$dt $hr:00:00",
    })  # fmt: skip
    with Running(t_env, HOURS) as job:
        first = job.until(lambda: markers(tmp_path))
        folders = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.glob("*/*"))
        assert first[0] == "dt=2024-01-01/hr=00"
        begun = len(folders) - lag
        assert len(first) <= begun + 1
        if lag:
            complete = lines(tmp_path / first[0])
            assert sorted(map(int, complete)) == list(range(MINUTES_OF_AN_HOUR))


def test_a_time_of_one_column_with_a_formatter(t_env, tmp_path):
    checkpoints(t_env)
    minutes(t_env)
    sink(t_env, tmp_path, {
        **SUCCESS, COMMIT + "trigger": "partition-time", COMMIT + "delay": "1 h",
        "partition.time-extractor.timestamp-formatter": "yyyyMMddHH",
    }, "i INT, p STRING", "p")  # fmt: skip
    with Running(t_env, "INSERT INTO s SELECT i, DATE_FORMAT(ts, 'yyyyMMddHH') FROM m") as job:
        first = job.until(lambda: markers(tmp_path))
        assert first[0] == "p=2024010100"
        assert sorted(map(int, lines(tmp_path / first[0]))) == list(range(MINUTES_OF_AN_HOUR))


def test_watermarks_in_a_time_zone(t_env, tmp_path):
    checkpoints(t_env)
    minutes(t_env)
    sink(t_env, tmp_path, {
        **SUCCESS, COMMIT + "trigger": "partition-time",
        COMMIT + "watermark-time-zone": "Etc/GMT+2",
        "partition.time-extractor.timestamp-pattern": "$dt $hr:00:00",
    })  # fmt: skip
    with Running(t_env, HOURS) as job:
        job.until(lambda: markers(tmp_path))
        # The zone is two hours off: 00:00 there is 02:00 here.
        assert (tmp_path / "dt=2024-01-01" / "hr=02").exists()


def test_without_a_delay_each_checkpoint_completes_partitions(t_env, tmp_path):
    checkpoints(t_env)
    minutes(t_env)
    sink(t_env, tmp_path, SUCCESS)
    with Running(t_env, HOURS) as job:
        job.until(lambda: len(markers(tmp_path)) > 1)
        assert lines(tmp_path)


def test_a_delay_of_processing_time(t_env, tmp_path):
    checkpoints(t_env)
    minutes(t_env, per_second=1000)
    sink(t_env, tmp_path, {
        **SUCCESS, COMMIT + "trigger": "process-time", COMMIT + "delay": "1 h",
        ROLLING + "file-size": "100 b",
    })  # fmt: skip
    with Running(t_env, HOURS) as job:
        job.until(lambda: len(data_files(tmp_path)) > 3)
        assert markers(tmp_path) == []


@pytest.mark.parametrize("trigger", ["process-time", "partition-time"])
def test_the_end_completes_all_partitions(t_env, tmp_path, trigger):
    minutes(t_env, 200, per_second=10000)
    sink(t_env, tmp_path, {
        **SUCCESS, COMMIT + "trigger": trigger, COMMIT + "delay": "10 d",
        "partition.time-extractor.timestamp-pattern": "$dt $hr:00:00",
    })  # fmt: skip
    t_env.execute_sql(HOURS).wait()
    assert markers(tmp_path) == [f"dt=2024-01-01/hr={hour:02d}" for hour in range(4)]
    assert sorted(map(int, lines(tmp_path))) == list(range(200))


def test_files_roll_by_size(t_env, tmp_path):
    minutes(t_env, 20000, per_second=1000000)
    sink(t_env, tmp_path, {ROLLING + "file-size": "20 kb"}, "i INT", "")
    t_env.execute_sql("INSERT INTO s SELECT i FROM m").wait()
    sizes = [path.stat().st_size for path in data_files(tmp_path)]
    assert 4 <= len(sizes) <= 6
    assert max(sizes) < 2 * 20 * 1024
    assert sorted(map(int, lines(tmp_path))) == list(range(20000))


def test_files_of_partitions_roll_by_size(t_env, tmp_path):
    minutes(t_env, 120, per_second=100000)
    sink(t_env, tmp_path, {ROLLING + "file-size": "10 kb"}, "i INT, c STRING, p STRING", "p")
    text = "SELECT i, REPEAT('x', 500), DATE_FORMAT(ts, 'HH') FROM m"
    t_env.execute_sql(f"INSERT INTO s {text}").wait()
    for hour in range(2):
        files = data_files(tmp_path / f"p={hour:02d}")
        assert 2 <= len(files) <= 3
        found = [line.partition(",")[0] for path in files for line in path.open()]
        assert sorted(map(int, found)) == list(range(60 * hour, 60 * hour + 60))


@pytest.mark.parametrize("interval", ["rollover-interval", "inactivity-interval"])
def test_files_roll_by_time(t_env, tmp_path, interval):
    checkpoints(t_env)
    minutes(t_env, per_second=20 if interval == "rollover-interval" else 1)
    sink(t_env, tmp_path, {ROLLING + interval: "300 ms", ROLLING + "check-interval": "100 ms"},
         "i INT", "")  # fmt: skip
    with Running(t_env, "INSERT INTO s SELECT i FROM m") as job:
        job.until(lambda: len(data_files(tmp_path)) > 2)


def test_files_do_not_roll_at_checkpoints(t_env, tmp_path):
    checkpoints(t_env, "100 ms")
    minutes(t_env, 200, per_second=100)
    sink(t_env, tmp_path, {}, "i INT", "")
    t_env.execute_sql("INSERT INTO s SELECT i FROM m").wait()
    assert len(data_files(tmp_path)) <= 3  # and not one for each of 20 checkpoints
    assert sorted(map(int, lines(tmp_path))) == list(range(200))


COMPACTED = {"auto-compaction": "true", ROLLING + "file-size": "20 kb"}


def test_compaction_at_the_end(t_env, tmp_path):
    minutes(t_env, 20000, per_second=1000000)
    sink(t_env, tmp_path, {**COMPACTED, "compaction.file-size": "1 mb"}, "i INT", "")
    t_env.execute_sql("INSERT INTO s SELECT i FROM m").wait()
    (path,) = data_files(tmp_path)
    assert path.name.startswith("compacted-part-")
    assert sorted(query(t_env, "SELECT * FROM s")) == [(i,) for i in range(20000)]


def test_the_size_of_compacted_files(t_env, tmp_path):
    minutes(t_env, 20000, per_second=1000000)
    sink(t_env, tmp_path, {**COMPACTED, "compaction.file-size": "60 kb"}, "i INT", "")
    t_env.execute_sql("INSERT INTO s SELECT i FROM m").wait()
    sizes = [path.stat().st_size for path in data_files(tmp_path)]
    assert 2 <= len(sizes) <= 3
    assert 40_000 < max(sizes) <= 60 * 1024
    assert sorted(map(int, lines(tmp_path))) == list(range(20000))


def test_compaction_of_partitions_at_each_checkpoint(t_env, tmp_path):
    checkpoints(t_env, "300 ms")
    minutes(t_env, 200, per_second=100)
    sink(t_env, tmp_path, {**SUCCESS, "auto-compaction": "true"}, form="json")
    t_env.execute_sql(HOURS).wait()
    assert all(path.name.startswith("compacted-part-") for path in data_files(tmp_path))
    assert len(data_files(tmp_path)) > 4
    assert markers(tmp_path) == [f"dt=2024-01-01/hr={hour:02d}" for hour in range(4)]
    assert sorted(row[0] for row in query(t_env, "SELECT * FROM s")) == list(range(200))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({COMMIT + "watermark-time-zone": "Nowhere"}, "Invalid time zone for"),
        ({**SUCCESS, COMMIT + "policy.kind": "metastore"}, "Can not configure a 'metastore'"),
        ({ROLLING + "file-size": "0 b"}, r"[Ii]llegal|positive|IllegalArgument"),
    ],
)
def test_what_is_wrong(t_env, tmp_path, options, message):
    minutes(t_env, 10)
    sink(t_env, tmp_path, options)
    with pytest.raises(Exception, match=message):
        t_env.execute_sql(HOURS).wait()
