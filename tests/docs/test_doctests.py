"""The examples in docstrings print what they say; they run in this process."""

from __future__ import annotations

import asyncio
import doctest
import importlib
import tempfile
from pathlib import Path

import pytest

from pyflink_on_spark import common, datastream, errors, extensions, state, table, testing
from pyflink_on_spark.datastream import StreamExecutionEnvironment, window
from pyflink_on_spark.table import StreamTableEnvironment, expressions, udf

PACKAGE = Path(common.__file__).parents[1]
# Examples need no imports of these names.
NAMESPACES = (
    common, errors, state, table, expressions, udf, datastream, window, datastream.state,
    extensions, testing,
)  # fmt: skip
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
# What users extend, or start with. There is no class of these without an example.
WRITTEN_AGAINST = {
    common: ["Configuration", "Row"],
    datastream: [
        "AggregateFunction",
        "AsyncFunction",
        "BroadcastProcessFunction",
        "CoMapFunction",
        "FilterFunction",
        "FlatMapFunction",
        "KeySelector",
        "KeyedCoProcessFunction",
        "KeyedProcessFunction",
        "MapFunction",
        "OutputTag",
        "Partitioner",
        "ProcessFunction",
        "ProcessWindowFunction",
        "ReduceFunction",
        "StreamExecutionEnvironment",
        "Trigger",
        "WindowFunction",
    ],
    extensions: [
        "CheckpointListener",
        "CheckpointedFunction",
        "FoldFunction",
        "GeneratorFunction",
        "ListCheckpointed",
        "SinkFunction",
        "SourceFunction",
    ],
    errors: ["JobExecutionError"],
    state: ["CheckpointContents"],
    table: ["AggregateFunction", "Expression", "ScalarFunction", "Schema", "TableFunction"],
    testing: ["LocalEngine", "ManualClock", "StreamHarness"],
}


def documented_modules():
    """Every module with an example; nothing else is imported."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if ">>>" in path.read_text(encoding="utf-8"):
            parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
            yield importlib.import_module(".".join(parts).removesuffix(".__init__"))


def examples():
    finder = doctest.DocTestFinder()
    for module in documented_modules():
        for found in finder.find(module):
            if found.examples:
                yield pytest.param(module, found, id=found.name.removeprefix("pyflink_on_spark."))


def public(module):
    return {name: thing for name, thing in vars(module).items() if not name.startswith("_")}


@pytest.fixture
def names(local_engine, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    env = StreamExecutionEnvironment.get_execution_environment().set_parallelism(1)
    found = {"asyncio": asyncio, "tempfile": tempfile, "__name__": "example"}
    for module in NAMESPACES:
        found |= public(module)
    return found | {"env": env, "t_env": StreamTableEnvironment.create(env)}


@pytest.mark.parametrize(("module", "example"), list(examples()))
def test_an_example(module, example, names):
    example.globs = names | public(module)
    written = []
    failed = doctest.DocTestRunner(optionflags=FLAGS).run(example, out=written.append).failed
    assert not failed, "".join(written)


@pytest.mark.parametrize(
    ("module", "name"),
    [(module, name) for module, names in WRITTEN_AGAINST.items() for name in names],
)
def test_a_class_that_users_write_against_has_an_example(module, name):
    assert ">>>" in (getattr(module, name).__doc__ or "")
