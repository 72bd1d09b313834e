"""Modules that a worker has loaded when it starts the process of a slot."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

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
plan = SimpleNamespace(number=0, attempt=0, level=SimpleNamespace(targets=(7,)))
made = processor.SlotProcessor(plan, "file:///home", None)
made.init(SimpleNamespace(getValueState=lambda *_: None, getMapState=lambda *_: None))
print("in the driver", loaded())
list(made.handleInputRows((9,), [], None))
print("passed", loaded())
list(made.handleInputRows((7,), [], None))
"""


def test_the_runtime_is_loaded_in_the_worker_once_and_never_in_the_driver():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], check=False, capture_output=True, text=True, timeout=60,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.stdout.splitlines() == ["in the driver False", "passed False", "started True"]
