"""The example that watches a folder, in this process."""

from __future__ import annotations

import importlib.util
from collections import Counter
from pathlib import Path

import pytest

from pyflink_on_spark._compat.import_hook import install

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def example():
    install()
    spec = importlib.util.spec_from_file_location("watch_folder", EXAMPLES / "watch_folder.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def line(minute, second, status):
    return (
        f'example.org 1.2.3.4 - - [29/Feb/2024:10:{minute:02}:{second:02} +0000] "GET /" {status} 1'
    )


def test_minutes_are_counted_as_logs_come(example, local_engine, tmp_path):
    requests = [(0, 5, 200), (0, 50, 404), (1, 10, 200), (0, 55, 200), (2, 40, 500)]
    (tmp_path / "a.log").write_text("\n".join([line(*r) for r in requests] + ["malformed"]))
    env = example.environment(None, None)
    env.set_parallelism(1)
    found = Counter()
    with example.count_by_minute(env, tmp_path).execute_and_collect() as results:
        found.update(next(results) for _ in range(3))
        (tmp_path / "b.log").write_text(line(9, 0, 200))
        found.update([next(results)])
    assert found == Counter(
        [
            "2024-02-29T10:00,200,2",
            "2024-02-29T10:00,404,1",
            "2024-02-29T10:01,200,1",
            "2024-02-29T10:02,500,1",
        ]
    )
