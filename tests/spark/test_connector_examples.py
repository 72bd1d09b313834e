"""The connectors' examples on Spark."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run_example(name, *arguments):
    command = [sys.executable, "-m", "pyflink_on_spark", f"examples/connectors/{name}", *arguments]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=280
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_table_is_filled(tmp_path):
    file = tmp_path / "words.db"
    run_example("word_table.py", "--url", f"jdbc:sqlite:{file}")
    with closing(sqlite3.connect(file)) as database:
        counts = dict(database.execute("SELECT word, times FROM words"))
    assert sum(counts.values()) == 14
    assert (counts["to"], counts["be"], counts["question"]) == (4, 2, 1)
