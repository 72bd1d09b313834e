"""A process in which tests can run scripts as ``run`` does."""

from __future__ import annotations

import sys

import pytest


@pytest.fixture
def script_process(monkeypatch, tmp_path):
    """Leaves this process as it was: its folder, its arguments, its modules and its signals."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    monkeypatch.setattr(sys, "argv", sys.argv)
    monkeypatch.setattr("pyflink_on_spark.tools.operate.run.install", lambda: None)
    monkeypatch.setattr("pyflink_on_spark.tools.operate.run.SignalsAsk.install", lambda _: None)
