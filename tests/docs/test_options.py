"""The page of options is what the registry declares today."""

from __future__ import annotations

import runpy
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_page_is_up_to_date():
    generator = runpy.run_path(str(DOCS / "generate_options.py"))
    written = (DOCS / "options.md").read_text(encoding="utf-8")
    assert written == generator["document"](), "run: python docs/generate_options.py"
