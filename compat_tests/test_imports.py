"""Names that PyFlink's modules have by accident, and that scripts import from there."""

from __future__ import annotations

import importlib

import pytest


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("common.typeinfo", "List Union datetime get_gateway"),
        ("common", "JsonRowDeserializationSchema CsvRowSerializationSchema"),
        ("datastream.data_stream", "MapFunction KeyedProcessFunction Types Row WatermarkStrategy"),
        ("datastream.functions", "IN IN1 IN2 KEY OUT W W2 Any Iterable TimeDomain MapState"),
        ("datastream.state", "Time Types Duration Iterable K V T"),
        ("datastream.stream_execution_environment", "Types Configuration RuntimeExecutionMode os"),
        ("datastream.window", "T W KEY MAX_LONG_VALUE MIN_LONG_VALUE Iterable"),
        ("datastream.connectors.kafka", "Types DeserializationSchema typeinfo"),
        ("datastream.connectors.file_system", "Duration Encoder Source"),
        ("util.exceptions", "Py4JJavaError"),
        ("util.java_utils", "JavaObject is_local_deployment to_j_duration"),
        ("java_gateway", "get_gateway"),
    ],
)
def test_names_that_a_module_only_imports(module, names):
    loaded = importlib.import_module(f"pyflink.{module}")
    assert [name for name in names.split() if not hasattr(loaded, name)] == []


def test_type_variables_make_generic_functions():
    from pyflink.datastream.functions import IN, KEY, OUT, ProcessWindowFunction
    from pyflink.datastream.window import TimeWindow

    class Counts(ProcessWindowFunction[IN, OUT, KEY, TimeWindow]):
        def process(self, key, context, elements):
            yield key, len(elements)

    assert list(Counts().process("k", None, [1, 2])) == [("k", 2)]


def test_the_version_is_that_of_pyflink():
    package = importlib.import_module("pyflink")
    version = importlib.import_module("pyflink.version")
    assert package.__version__ == version.__version__ == "2.3.0"
