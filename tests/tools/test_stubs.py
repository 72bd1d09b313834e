"""Stubs with which type checkers resolve ``pyflink``."""

from __future__ import annotations

import ast
import importlib

import pytest

from pyflink_on_spark.tools.stubs import main


@pytest.fixture
def stubs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main([]) == 0
    return tmp_path / "typings" / "pyflink"


def test_each_stub_names_a_module_that_exists(stubs):
    files = list(stubs.rglob("*.pyi"))
    assert len(files) > 50
    for file in files:
        (imported,) = ast.parse(file.read_text()).body
        importlib.import_module(imported.module)


def test_each_module_of_pyflink_that_scripts_import_has_a_stub(stubs):
    for module in ("common", "datastream", "datastream.connectors.kafka", "table", "metrics"):
        path = stubs / module.replace(".", "/")
        assert path.with_suffix(".pyi").exists() or (path / "__init__.pyi").exists()


def test_stubs_are_written_again_and_nothing_else_is_overwritten(stubs, tmp_path, capsys):
    assert main(["typings"]) == 0
    (tmp_path / "other" / "pyflink").mkdir(parents=True)
    assert main(["other"]) == 1
    assert "exists, and is not of this command" in capsys.readouterr().err
