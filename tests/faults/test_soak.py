"""The soak's own parts: what they would miss, nobody else finds."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

from tests.faults.disturbed import Plan
from tests.faults.events import (
    EVENTS_A_FILE,
    check_counts,
    expected_rows,
    expected_windows,
    key_of,
    line_of,
    rows_after,
    write_file,
)
from tests.faults.processes import (
    Process,
    descendants,
    hosts,
    java_processes,
    process_of,
    python_daemons,
    still_alive,
)
from tests.faults.soak import Soak


def counted(numbers):
    counts = {}
    lines = []
    for number in numbers:
        key = key_of(number)
        counts[key] = counts.get(key, 0) + 1
        lines.append(f"{key},{number},{counts[key]}")
    return lines


def test_complete_counts_are_accepted():
    assert check_counts(counted(range(300)), 300) == []


def test_a_lost_event_is_found():
    assert check_counts(counted([0, 1, 3]), 4) == ["1 events are lost, such as [2]"]


def test_an_event_that_is_there_twice_is_found():
    lines = counted(range(4))
    assert check_counts([*lines, lines[0]], 4)[0] == "1 events are there twice"


def test_lost_state_is_found():
    lines = counted(range(50))
    reset = counted(range(50, 100))
    problems = check_counts(lines + reset, 100)
    assert problems
    assert all("the counts of key" in problem for problem in problems)


def test_windows_have_every_event_once():
    rows = [tuple(map(int, line.split(","))) for line in expected_windows(1234)]
    assert sum(count for _, _, count, _ in rows) == 1234
    assert sum(total for _, _, _, total in rows) == sum(range(1234))


def test_rows_after_changes():
    changes = ["+1,2", "+1,5", "-1,2", "+7,7", "+7,7"]
    assert sorted(rows_after(changes)) == ["1,5", "7,7", "7,7"]
    assert rows_after(["-1,5"]) == ["removed too often: 1,5"]
    assert expected_rows(20)["pairs"] == ["17,0", "19,2"]


def test_files_have_the_events_in_order(tmp_path):
    write_file(tmp_path, 0)
    write_file(tmp_path, 1)
    lines = [line for path in sorted(tmp_path.iterdir()) for line in path.read_text().splitlines()]
    assert lines == [line_of(number) for number in range(2 * EVENTS_A_FILE)]


def test_descendants_are_found_and_their_end_is_noticed():
    inner = "import time; time.sleep(60)"
    outer = f"import subprocess, sys; subprocess.run([sys.executable, '-c', '{inner}'])"
    process = subprocess.Popen(
        [sys.executable, "-c", f"print(flush=True); {outer}"], stdout=subprocess.PIPE
    )
    process.stdout.readline()
    found = []
    while not found:
        found = descendants(process.pid)
    assert still_alive(found, 0) == found
    process.kill()
    process.wait()
    for child in found:
        assert child.alive
        child.kill()
    assert still_alive(found, 10) == []


def test_hosts_are_told_from_what_starts_them():
    daemon, worker = "python -m pyspark.daemon pyspark.worker", "python -m pyspark.daemon worker"
    processes = [
        Process(10, 0, 1, "/usr/bin/java -cp x org.apache.spark.deploy.SparkSubmit"),
        Process(11, 0, 10, daemon),
        Process(12, 0, 11, worker),
        Process(13, 0, 11, worker),
        Process(14, 0, 1, "sh -c grep java"),
    ]
    assert [process.number for process in hosts(processes)] == [12, 13]
    assert [process.number for process in python_daemons(processes)] == [11]
    assert [process.number for process in java_processes(processes)] == [10]


def test_a_process_is_suspended_and_resumed():
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as sleeper:
        process = process_of(sleeper.pid)
        assert process.kill(signal.SIGSTOP)
        assert process.alive
        assert process.kill(signal.SIGCONT)
        assert process.kill(signal.SIGTERM)
        assert sleeper.wait(20) == -signal.SIGTERM
        assert not process.kill(signal.SIGCONT)


def test_folders_of_checkpoints_that_go_meanwhile(tmp_path, monkeypatch):
    """A soak of an hour had ended with the folder that an old run removed as it was listed."""
    soak = Soak(Plan(tmp_path, 1), random.Random(1))
    for name in ("gone", "here"):
        (tmp_path / "checkpoints" / name / "chk-1").mkdir(parents=True)
        (tmp_path / "checkpoints" / name / "chk-1" / "_metadata").touch()
    listed = os.scandir

    def scandir(path):
        if Path(path).name == "gone":
            raise FileNotFoundError(path)
        return listed(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert soak._newest_checkpoint() == tmp_path / "checkpoints" / "here" / "chk-1"
