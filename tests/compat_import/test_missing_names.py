"""Names that a module of the mirror does not have."""

from __future__ import annotations

import importlib

import pytest

MODULES = [
    "common",
    "common.serialization",
    "common.typeinfo",
    "common.types",
    "datastream",
    "datastream.connectors",
    "datastream.connectors.file_system",
    "datastream.connectors.kafka",
    "datastream.data_stream",
    "datastream.formats.csv",
    "datastream.functions",
    "datastream.state",
    "datastream.state_backend",
    "datastream.stream_execution_environment",
    "datastream.window",
    "metrics",
    "util",
    "util.java_utils",
]


@pytest.mark.parametrize("module", MODULES)
def test_an_import_of_it(module):
    with pytest.raises(ImportError, match=rf"pyflink\.{module} has no 'Nonsense'"):
        exec(f"from pyflink_on_spark.{module} import Nonsense")


@pytest.mark.parametrize("module", MODULES)
def test_access_to_it(module):
    loaded = importlib.import_module(f"pyflink_on_spark.{module}")
    with pytest.raises(AttributeError, match=rf"pyflink\.{module} has no 'nonsense'"):
        loaded.nonsense  # noqa: B018
    assert not hasattr(loaded, "__nonsense__")
    assert getattr(loaded, "nonsense", None) is None


def test_a_name_that_is_nearly_right():
    with pytest.raises(ImportError, match="Did you mean KeyedProcessFunction"):
        exec("from pyflink_on_spark.datastream import KeyedProcesFunction")


def test_what_pyflink_does_not_export_either():
    with pytest.raises(ImportError, match="missing in PyFlink too"):
        exec("from pyflink_on_spark.datastream import AllWindowFunction")
