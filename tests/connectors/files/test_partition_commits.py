"""When partitions are complete, by the clock of tests and their watermarks."""

from __future__ import annotations

import pytest

from pyflink_on_spark._connectors.files.part_file import PendingFile
from pyflink_on_spark._runtime.elements.bundle import MAX_WATERMARK
from pyflink_on_spark._sql.tables.connectors.filesystem.partitions import (
    Partition,
    PartitionBuckets,
    PartitionedConfig,
    PartitionSink,
    PartitionTime,
    PartitionTimeTrigger,
    ProcessingTimeTrigger,
    Reached,
)

HOUR = 3_600_000


def at(text, pattern=None, formatter=None, zone="UTC"):
    return PartitionTime(pattern, formatter, zone).read(text)


@pytest.mark.parametrize(
    ("partition", "pattern", "formatter", "hours"),
    [
        ("dt=1970-01-02", None, None, 24),
        ("dt=1970-1-2", None, None, 24),
        ("dt=1970-01-01 05:00:00", None, None, 5),
        ("dt=1970-01-01/hr=05", "$dt $hr:00:00", None, 5),
        ("dt=1970-01-01/hr=24", "$dt $hr:00:00", None, 24),
        ("y=1970/m=01/d=02", "$y-$m-$d", None, 24),
        ("p=19700102", None, "yyyyMMdd", 24),
        ("p=1970010205", None, "yyyyMMddHH", 29),
        ("dt=02.01.1970/hr=5", "$dt $hr", "dd.MM.yyyy H", 29),
        ("dt=1970-01-01 05%3A00%3A00", None, None, 5),
    ],
)
def test_the_time_of_a_partition(partition, pattern, formatter, hours):
    assert at(partition, pattern, formatter) == hours * HOUR


def test_the_zone_of_a_time():
    assert at("dt=1970-01-01", zone="Europe/Berlin") == -HOUR
    assert at("dt=1970-01-01", zone="GMT-02:00") == 2 * HOUR


@pytest.mark.parametrize("text", ["dt=today", "dt=1970", "dt=1970-01-01 05:00"])
def test_no_time(text):
    with pytest.raises(ValueError, match="could not be parsed as the time of a partition"):
        at(text)


def sink(folder, trigger):
    config = PartitionedConfig(str(folder), buckets=PartitionBuckets(), trigger=trigger)
    return PartitionSink(config)


def partition(folder, name, begun=0):
    (folder / name).mkdir(exist_ok=True)
    return Partition(name, str(folder / name), begun)


def names(committables):
    return sorted(each.name for each in committables if isinstance(each, Partition))


def markers(folder):
    return sorted(path.parent.name for path in folder.glob("*/_SUCCESS"))


def test_the_slowest_writer_decides(tmp_path):
    tested = sink(tmp_path, PartitionTimeTrigger(HOUR, PartitionTime(None, None, "UTC")))
    days = [partition(tmp_path, f"dt=1970-01-0{day}") for day in (1, 2)]
    late = [*days, Reached(25 * HOUR + 1, 0), Reached(HOUR, 0)]
    assert names(tested.hold_back(late, 1)[0]) == []
    now, later = tested.hold_back([*days, Reached(25 * HOUR + 1, 0), Reached(HOUR + 1, 0)], 2)
    assert (names(now), names(later)) == (["dt=1970-01-01"], ["dt=1970-01-02"])
    tested.commit(now)
    assert markers(tmp_path) == ["dt=1970-01-01"]


def test_processing_time_counts_from_the_first_report(tmp_path):
    tested = sink(tmp_path, ProcessingTimeTrigger(1000))
    reports = [partition(tmp_path, "p=1", 700), partition(tmp_path, "p=1", 500)]
    _, later = tested.hold_back([*reports, Reached(0, 1500)], 1)
    assert names(later) == ["p=1"]
    now, later = tested.hold_back([*later, Reached(0, 1501)], 2)
    assert (names(now), later) == (["p=1"], [])


def test_partitions_follow_their_files(tmp_path):
    tested = sink(tmp_path, ProcessingTimeTrigger(0))
    folder = tmp_path / "p=1"
    folder.mkdir()
    hidden = folder / ".part.inprogress"
    hidden.write_text("1\n")
    file = PendingFile(str(folder), str(hidden), str(folder / "part"), 2, checkpoint=1)
    now, later = tested.hold_back([file, partition(tmp_path, "p=1"), Reached(0, 0)], 1)
    assert later == []
    for commit in (tested.commit, tested.commit_again):
        commit(now)
        assert sorted(path.name for path in folder.iterdir()) == ["_SUCCESS", "part"]
    tested.keep(now)
    tested.abort([*now, Reached(0, 0)])


def test_the_end_completes_what_is_left(tmp_path):
    tested = sink(tmp_path, ProcessingTimeTrigger(HOUR))
    partitions = [partition(tmp_path, "p=1"), partition(tmp_path, "p=2")]
    tested.commit([*partitions, Reached(MAX_WATERMARK, 0)])
    assert markers(tmp_path) == ["p=1", "p=2"]


def test_a_job_that_stops_completes_only_what_is_due(tmp_path):
    tested = sink(tmp_path, ProcessingTimeTrigger(1000))
    tested.commit([partition(tmp_path, "p=1", 0), partition(tmp_path, "p=2", 5), Reached(7, 1001)])
    assert markers(tmp_path) == ["p=1"]
