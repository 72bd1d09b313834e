"""The pages of options are what is declared today."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize("generator", ["generate_options.py", "generate_table_options.py"])
def test_the_page_is_up_to_date(generator):
    page = runpy.run_path(str(DOCS / generator))
    written = page["DOCUMENT"].read_text(encoding="utf-8")
    assert written == page["document"](), f"run: python docs/{generator}"
