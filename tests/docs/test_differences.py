"""The pages of differences and of defects are what the docstrings say today."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_pages_are_up_to_date():
    generator = runpy.run_path(str(DOCS / "generate_differences.py"))
    for page, text in (("differences.md", "document"), ("pyflink_defects.md", "defects")):
        written = (DOCS / "reference" / page).read_text(encoding="utf-8")
        assert written == generator[text](), "run: python docs/generate_differences.py"


def test_entries_that_name_the_version_are_on_the_page_of_defects():
    for page, there in (("differences.md", False), ("pyflink_defects.md", True)):
        lists = (DOCS / "reference" / page).read_text(encoding="utf-8").partition("## pyflink.")[2]
        assert ("`UniqueConstraint.primary_key`" in lists) is there
        assert ("PyFlink 2.3" in lists) is there


def test_the_page_has_the_public_names_only():
    written = (DOCS / "reference" / "differences.md").read_text(encoding="utf-8")
    assert "`StreamExecutionEnvironment.add_jars`" in written
    assert set(re.findall(r"pyflink_on_spark\.(\w+)", written)) == {"errors", "extensions"}
    assert "._" not in written
