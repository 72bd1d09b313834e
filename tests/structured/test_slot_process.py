"""The modules that a worker has loaded for the process of a slot, and runs of micro-batches."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from pyflink_on_spark._runtime.checkpoints.checkpoint_files import folder
from pyflink_on_spark._spark.structured.batches import CONTROL, forget_wishes
from pyflink_on_spark._spark.structured.processor import Runs
from pyflink_on_spark._spark.structured.slot import Limits

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
import sys
from types import SimpleNamespace
from pyflink_on_spark._spark.structured import processor

def loaded():
    return "pyflink_on_spark._runtime.task.subtask_group" in sys.modules

class Started:
    def __init__(self, name, begin):
        print("started", loaded())

    def run(self, *_):
        return []

processor.Resident = Started
plan = SimpleNamespace(
    number=0, attempt=0, ticks=(), level=SimpleNamespace(targets=(7,)),
    limits=SimpleNamespace(notes_runs=True), settings=SimpleNamespace(configuration={}),
)
made = processor.SlotProcessor(plan, "file:///home", None)
made.init(SimpleNamespace(getValueState=lambda *_: None, getMapState=lambda *_: None))
print("in the driver", loaded())
list(made.handleInputRows((9,), [], None))
print("passed", loaded())
tick = {"subtask": -1, "channel": -1, "seq": 0, "payload": None}
list(made.handleInputRows((7,), [tick], None))
"""


def test_the_runtime_is_loaded_in_the_worker_once_and_never_in_the_driver():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], check=False, capture_output=True, text=True, timeout=60,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.stdout.splitlines() == ["in the driver False", "passed False", "started True"]


@pytest.fixture
def home(tmp_path):
    return folder(str(tmp_path))


def task(home, batch, *slots, later_levels=(1, 2), attempt=0, notes_runs=True, fails=False):
    """Runs a micro-batch of slots in a task of its own."""
    plan = SimpleNamespace(
        number=0,
        attempt=attempt,
        ticks=later_levels,
        limits=Limits(notes_runs=notes_runs),
        settings=SimpleNamespace(configuration={}),
    )
    runs = Runs(plan, home.uri)
    for slot in slots:
        runs.begin(slot, batch)
    if not fails:
        runs.end()


def test_no_task_runs_what_another_one_has_run_whose_rows_may_be_lost(home):
    for batch in range(5):
        task(home, batch, 3)
    with pytest.raises(RuntimeError, match=r"slot 3 of level . sent in micro-batch 4, and runs"):
        task(home, 4, 3)
    task(home, 5, 3)
    assert len(home.inside(CONTROL).names()) == 2


def test_a_task_that_failed_is_run_again(home):
    task(home, 4, 3, 5, fails=True)
    task(home, 4, 3, 5)


def test_the_next_attempt_runs_a_micro_batch_again(home):
    task(home, 4, 3)
    task(home, 4, 3, attempt=1)
    forget_wishes(home)
    assert home.inside(CONTROL).names() == []


@pytest.mark.parametrize("other", [{"later_levels": ()}, {"notes_runs": False}])
def test_nothing_is_noted_where_no_rows_can_be_lost(home, other):
    task(home, 4, 3, **other)
    assert home.inside(CONTROL).names() == []
    task(home, 4, 3, **other)
