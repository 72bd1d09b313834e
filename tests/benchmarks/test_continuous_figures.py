from __future__ import annotations

import json

import pytest

from benchmarks.continuous import figures
from benchmarks.continuous.__main__ import latency_line, parse, throughput_line
from benchmarks.continuous.figures import Note, Sample
from benchmarks.continuous.recorder import Recorder


def write(folder, name, *lines):
    (folder / name).write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def test_a_window_counts_once_every_sink_has_written_of_a_later_one(tmp_path):
    write(tmp_path, "a.jsonl", [1100, 1000, 5, 1], [2100, 2000, 7, 1], [3100, 3000, 9, 1])
    write(tmp_path, "b.jsonl", [1200, 1000, 6, 1], [2200, 2000, 8, 1])
    assert figures.read_notes(tmp_path) == [Note(1100, 1000, 5, 1), Note(1200, 1000, 6, 1)]
    assert figures.read_notes(tmp_path, since=1001) == []


def test_a_line_that_is_only_half_written_is_left(tmp_path):
    write(tmp_path, "a.jsonl", [1100, 1000, 5, 1], [2100, 2000, 7, 1])
    with (tmp_path / "a.jsonl").open("a") as file:
        file.write("[3100, 30")
    assert figures.read_notes(tmp_path) == [Note(1100, 1000, 5, 1)]


def test_the_recorder_sums_up_what_comes_at_once(tmp_path, monkeypatch):
    times = iter([10.0, 10.0001, 10.0002, 10.6])
    monkeypatch.setattr("benchmarks.continuous.recorder.time.time", lambda: next(times))
    recorder = Recorder(tmp_path)
    recorder.note(9000, 2)
    recorder.note(9000, 3)
    recorder.note(10000, 4, results=2)
    recorder.note(11000, 1)
    assert figures.read_notes(tmp_path) == [Note(10000, 9000, 5, 2)]
    recorder.flush()
    assert len(figures.read_notes(tmp_path)) == 2


def test_throughput_is_of_the_time_between_the_first_and_the_last_window():
    notes = [
        Note(0, 1000, 999, 1),
        Note(0, 3000, 50, 1),
        Note(0, 3000, 50, 1),
        Note(0, 5000, 60, 1),
    ]
    assert figures.records_per_second(notes) == pytest.approx(160 / 4)
    assert figures.records_per_second(notes[:1]) is None


def test_percentiles_go_by_weight():
    weighted = [(30, 1), (10, 98), (20, 1)]
    assert figures.percentile(weighted, 0.5) == 10
    assert figures.percentile(weighted, 0.99) == 20
    assert figures.percentile(weighted, 1.0) == 30
    assert figures.percentile([], 0.5) is None


def test_a_windows_latency_is_from_its_end():
    assert figures.window_latencies([Note(1250, 1000, 7, 3)]) == [(250, 3)]


def test_an_imagined_record_leaves_with_the_first_batch_that_begins_after_it():
    batches = [(0, 100), (100, 200), (300, 400)]
    assert figures.batch_latencies(batches, step=50) == [
        (100, 1), (150, 1), (100, 1), (250, 1), (200, 1), (150, 1), (100, 1),
    ]  # fmt: skip
    assert figures.batch_latencies([]) == []


def test_batches_that_began_before_are_left_out(tmp_path):
    write(tmp_path, "batches.jsonl", [0, 10], [20, 30])
    assert figures.read_batches(tmp_path, since=5) == [(20, 30)]


def samples(*sizes):
    return [Sample(1000 * n, 1.5 * n, {"python": size}) for n, size in enumerate(sizes)]


def test_memory_is_the_median_of_each_third():
    course = figures.memory_course(samples(1e6, 9e6, 1e6, 2e6, 2e6, 9e6, 3e6, 3e6, 3e6), "python")
    assert course == [1, 2, 3]
    assert figures.memory_course(samples(1e6), "python") == []


@pytest.mark.parametrize(
    ("course", "flat"), [([100, 100, 105], True), ([100, 120, 150], False), ([9, 5, 5], True)]
)
def test_flat_is_what_does_not_grow_in_the_end(course, flat):
    assert figures.is_flat(course) is flat


def test_cores_that_were_busy():
    assert figures.cores_used(samples(1, 1, 1)) == 1.5
    assert figures.cores_used(samples(1)) is None


def test_rows_say_how_ours_compares():
    ours = 1000.0, 800.0, [100.0, 100.0, 100.0]
    assert "x" not in throughput_line("ours", ours, ours)
    line = throughput_line("other", (100.0, 40.0, [100.0, 200.0, 400.0]), ours)
    assert "10.0x" in line
    assert "20.0x" in line
    assert line.endswith("grows")
    assert latency_line("ours", (300, 600), (200, 500)).endswith("1.50x     1.20x")


def test_what_is_asked_for():
    options = parse(["--keys", "7", "--only", "latency"])
    assert (options.keys, options.only, options.seconds) == ([7], "latency", 120)
