"""Options that this package adds to Flink's."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import pyflink_on_spark
from pyflink_on_spark.common import Configuration
from pyflink_on_spark.common._own_options import OWN_OPTIONS
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.testing import local_engine

PACKAGE = Path(pyflink_on_spark.__file__).parent


def test_the_list_is_complete():
    read = {
        node.value
        for path in PACKAGE.rglob("*.py")
        if path.name != "_own_options.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and str(node.value).startswith("pyflink-on-spark.")
    }
    assert read == OWN_OPTIONS


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("pyflink-on-spark.epoch-element", "did you mean pyflink-on-spark.epoch-elements?"),
        ("pyflink_on_spark.epoch-elements", "did you mean pyflink-on-spark.epoch-elements?"),
        ("pyflink-on-spark.zzz", "it has checkpoint-storage.max-state-size, default-kryo"),
    ],
)
def test_what_is_no_option_is_refused(key, hint):
    configuration = Configuration()
    configuration.set_string(key, "1")
    with pytest.raises(ValueError, match="has no option") as refused:
        StreamExecutionEnvironment.get_execution_environment(configuration)
    assert hint in str(refused.value)


def test_what_is_set_past_the_environment_is_refused_when_the_job_starts():
    env = StreamExecutionEnvironment.get_execution_environment()
    env.from_collection([1]).print()
    env._configuration.set_string("pyflink-on-spark.progres", "on")
    with local_engine(), pytest.raises(ValueError, match=r"mean pyflink-on-spark\.progress"):
        env.execute()
