"""The pages of benchmarks show the results that are kept as data."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

GENERATOR = Path(__file__).resolve().parents[2] / "docs" / "generate_benchmarks.py"


@pytest.fixture(scope="module")
def generator():
    return runpy.run_path(str(GENERATOR))


@pytest.mark.parametrize(("page", "text"), [("DOCUMENT", "document"), ("DETAILS", "details")])
def test_the_pages_are_up_to_date(generator, page, text):
    written = generator[page].read_text(encoding="utf-8")
    assert written == generator[text](), "run: python docs/generate_benchmarks.py"


def test_each_result_is_on_one_page(generator):
    pages = generator["document"]() + generator["details"]()
    for file in generator["RESULTS"].glob("*.json"):
        result = json.loads(file.read_text(encoding="utf-8"))
        assert pages.count(generator["table"](result)) == 1, file.name
