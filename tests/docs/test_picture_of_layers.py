"""The picture of the layers in ARCHITECTURE.md is the one of the imports."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

GENERATOR = Path(__file__).resolve().parents[2] / "docs" / "generate_layers.py"


def test_the_picture_is_up_to_date():
    page = runpy.run_path(str(GENERATOR))
    written = page["DOCUMENT"].read_text(encoding="utf-8")
    assert written == page["document"](), "run: python docs/generate_layers.py"


def test_arrows_that_follow_from_others_are_left_out():
    page = runpy.run_path(str(GENERATOR))
    graph = {"roof": {"wall", "ground"}, "wall": {"ground"}, "ground": set()}
    assert page["arrows"](graph) == [("roof", "wall"), ("wall", "ground")]
