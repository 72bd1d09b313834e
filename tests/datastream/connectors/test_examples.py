"""The examples in the docstrings of connectors and formats run as they are."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import textwrap

import pytest

from pyflink_on_spark import common, datastream, table
from pyflink_on_spark.common import Row, SimpleStringSchema, Types, WatermarkStrategy
from pyflink_on_spark.datastream import StreamExecutionEnvironment, connectors, formats
from pyflink_on_spark.datastream.connectors.kafka import (
    KafkaRecordSerializationSchema,
    KafkaSource,
)
from pyflink_on_spark.datastream.connectors.number_seq import NumberSequenceSource

HEAD = "Example::\n"


def modules():
    for package in (connectors, formats):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            yield importlib.import_module(found.name)


def examples():
    """Yield each class with an example, and the code."""
    for module in modules():
        for cls in vars(module).values():
            if inspect.isclass(cls) and cls.__module__ == module.__name__:
                text = inspect.cleandoc(cls.__doc__ or "")
                if HEAD in text:
                    block = text.partition(HEAD)[2].lstrip("\n")
                    lines = block.splitlines()
                    end = next(
                        (i for i, line in enumerate(lines) if line and line[0] != " "), len(lines)
                    )
                    yield pytest.param(
                        module, textwrap.dedent("\n".join(lines[:end])), id=cls.__qualname__
                    )


@pytest.fixture
def names():
    env = StreamExecutionEnvironment.get_execution_environment()
    texts = env.from_collection(["a"], Types.STRING())
    rows = env.from_collection([Row("a", 1)], Types.ROW([Types.STRING(), Types.LONG()]))
    builder = KafkaRecordSerializationSchema.builder().set_topic("t")
    topics = KafkaSource.builder().set_bootstrap_servers("broker:9092").set_topics("t")
    numbers = NumberSequenceSource(1, 2)
    found = {}
    for module in (common, datastream, table, *modules()):
        found |= {n: thing for n, thing in vars(module).items() if not n.startswith("_")}
    return found | {
        "env": env,
        "orders": texts,
        "lines": texts,
        "clicks": texts,
        "counts": rows,
        "clicks_as_maps": env.from_collection(
            [{"a": "b"}], Types.MAP(Types.STRING(), Types.STRING())
        ),
        "files": numbers,
        "topic": numbers,
        "serializer": builder.set_value_serialization_schema(SimpleStringSchema()).build(),
        "source": topics.set_value_only_deserializer(SimpleStringSchema()).build(),
        "WatermarkStrategy": WatermarkStrategy,
    }


@pytest.mark.parametrize(("module", "code"), list(examples()))
def test_an_example_runs(module, code, names):
    exec(compile(code, module.__file__, "exec"), names)


def test_classes_that_users_write_against_have_one():
    assert len(list(examples())) >= 12
