"""The names in Flink's and PyFlink's documents on streams and state exist here.

`documented_names.txt` has the names: PyFlink's own, those of the reference of 1.14 among them, and
the Python names of what the document on state has in Java and Scala.
"""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from pyflink_on_spark import extensions
from pyflink_on_spark.common import Types
from pyflink_on_spark.datastream import MapFunction, StreamExecutionEnvironment
from pyflink_on_spark.datastream.state import ValueStateDescriptor

NAMES = (Path(__file__).parent / "documented_names.txt").read_text().split()


def find(name):
    parts = name.replace("pyflink.", "pyflink_on_spark.", 1).split(".")
    for length in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            found = getattr(found, part)
        return found
    raise ModuleNotFoundError(name)


def missing(names):
    for name in names:
        try:
            find(name)
        except (AttributeError, ImportError):
            yield name


def test_every_documented_name_is_there():
    assert len(NAMES) > 450
    assert not list(missing(NAMES))


def test_a_missing_name_would_be_found():
    wrong = ["pyflink.datastream.DataStream.mapp", "pyflink.datastreams.DataStream"]
    assert list(missing(wrong)) == wrong


def test_extensions_export_what_they_have():
    exported = set(extensions.__all__)
    assert {name.split(".")[2] for name in NAMES if "extensions" in name} <= exported
    assert all(find(f"pyflink_on_spark.extensions.{name}").__doc__ for name in exported)


def test_changelog_state_backend(local_engine):
    env = StreamExecutionEnvironment.get_execution_environment()
    assert env.is_changelog_state_backend_enabled() is None
    assert env.enable_changelog_state_backend(True) is env
    assert env.is_changelog_state_backend_enabled() is True
    assert env.enable_changelog_state_backend(False).is_changelog_state_backend_enabled() is False


class CountFunction(MapFunction):
    def open(self, runtime_context):
        descriptor = ValueStateDescriptor("count", Types.LONG())
        self.count_state = runtime_context.get_state(descriptor)

    def map(self, value):
        count = (self.count_state.value() or 0) + 1
        self.count_state.update(count)
        return value, count


@pytest.mark.parametrize("changelog", [None, True, False])
def test_counting_per_key(local_engine, capsys, changelog):
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    if changelog is not None:
        env.enable_changelog_state_backend(changelog)
    stream = env.from_collection([1, 2, 3, 1, 2, 1]).map(lambda x: (x, 1))
    stream.key_by(lambda x: x[0]).map(CountFunction()).print()
    env.execute()
    assert capsys.readouterr().out.splitlines() == [
        "((1, 1), 1)",
        "((2, 1), 1)",
        "((3, 1), 1)",
        "((1, 1), 2)",
        "((2, 1), 2)",
        "((1, 1), 3)",
    ]
