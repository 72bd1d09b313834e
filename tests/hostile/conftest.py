"""How many changes are tried."""

from __future__ import annotations

import os

import pytest


@pytest.fixture
def hostile_seeds():
    """The seeds of the changes: 40, or as many as HOSTILE_CHANGES says."""
    return range(int(os.environ.get("HOSTILE_CHANGES", "40")))
