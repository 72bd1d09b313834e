"""The example of file formats on Spark."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[2]


def test_csv_becomes_parquet(tmp_path):
    output = tmp_path / "out"
    script = ["examples/csv_to_parquet.py", "--output", str(output)]
    command = [sys.executable, "-m", "pyflink_on_spark", *script]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=280
    )
    assert done.returncode == 0, done.stdout + done.stderr
    [path] = [path for path in output.iterdir() if path.name.startswith("part-")]
    rows = pq.read_table(path).to_pylist()
    assert [row["station"] for row in rows] == [
        *("north pier", "south pier", "north pier", "north pier", "south pier"),
        "lock, outer gate",
    ]
    assert rows[0]["level_m"] == Decimal("1.825")
    assert rows[0]["tags"] == ["tide", "wind"]
    harbour_time = datetime(2024, 3, 1, 6).astimezone()
    assert rows[0]["measured"].to_pydatetime() == harbour_time.astimezone(UTC).replace(tzinfo=None)
