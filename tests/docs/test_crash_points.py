"""The page of crash points is what the tests run today."""

from __future__ import annotations

import runpy
from pathlib import Path

GENERATOR = Path(__file__).resolve().parents[2] / "docs" / "generate_crash_points.py"


def test_the_page_is_up_to_date():
    page = runpy.run_path(str(GENERATOR))
    written = page["DOCUMENT"].read_text(encoding="utf-8")
    assert written == page["document"](), "run: python docs/generate_crash_points.py"


def test_each_fault_and_each_output_has_a_text():
    page = runpy.run_path(str(GENERATOR))
    faults = {(fault.process, fault.kind, fault.how) for fault in page["FAULTS"]}
    assert set(page["MEANINGS"]) == faults
    assert set(page["OUTPUTS"]) == set(page["WITHOUT"])
