"""The page of benchmarks shows the results that are kept as data."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

GENERATOR = Path(__file__).resolve().parents[2] / "docs" / "generate_benchmarks.py"


def test_the_page_is_up_to_date():
    page = runpy.run_path(str(GENERATOR))
    written = page["DOCUMENT"].read_text(encoding="utf-8")
    assert written == page["document"](), "run: python docs/generate_benchmarks.py"


def test_each_result_is_on_the_page():
    page = runpy.run_path(str(GENERATOR))
    places = re.findall(r"<!-- table: (\w+) -->", page["DOCUMENT"].read_text(encoding="utf-8"))
    assert sorted(places) == sorted(file.stem for file in page["RESULTS"].glob("*.json"))
