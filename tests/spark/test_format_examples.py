"""The example of file formats on Spark."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[2]


def test_csv_becomes_parquet(run_script, tmp_path):
    output = tmp_path / "out"
    run_script(ROOT / "examples" / "csv_to_parquet.py", "--output", output)
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
