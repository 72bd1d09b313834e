"""The page of differences is what the docstrings say today."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_page_is_up_to_date():
    generator = runpy.run_path(str(DOCS / "generate_differences.py"))
    written = (DOCS / "reference" / "differences.md").read_text(encoding="utf-8")
    assert written == generator["document"](), "run: python docs/generate_differences.py"


def test_the_page_has_the_public_names_only():
    written = (DOCS / "reference" / "differences.md").read_text(encoding="utf-8")
    assert "`StreamExecutionEnvironment.add_jars`" in written
    assert set(re.findall(r"pyflink_on_spark\.(\w+)", written)) == {"errors", "extensions"}
    assert "._" not in written
