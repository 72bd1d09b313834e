"""Connectors without a client: every constructor and every method raises the marker at the call."""

from __future__ import annotations

import enum
import inspect

import pytest

from pyflink_on_spark._compat.errors import UnsupportedFlinkFeature
from pyflink_on_spark._compat.unsupported import Gap, marker_of, unsupported
from pyflink_on_spark.datastream.connectors import cassandra, dynamic_kafka, pulsar

MODULES = [cassandra, dynamic_kafka, pulsar]


def classes_of(module):
    own = [c for c in vars(module).values() if getattr(c, "__module__", "") == module.__name__]
    own = [c for c in own if inspect.isclass(c) and not issubclass(c, enum.Enum)]
    return [*own, *(inner for c in own for inner in vars(c).values() if inspect.isclass(inner))]


CLASSES = [cls for module in MODULES for cls in classes_of(module)]


@pytest.mark.parametrize("cls", CLASSES)
def test_no_object_can_be_made(cls):
    constructor = inspect.getattr_static(cls, "__init__")
    values = [None] * (len(inspect.signature(constructor).parameters) - 1)
    with pytest.raises(UnsupportedFlinkFeature, match=__file__):
        cls(*values)


@pytest.mark.parametrize("cls", CLASSES)
def test_every_method_is_marked(cls):
    declared = {name: getattr(member, "__func__", member) for name, member in vars(cls).items()}
    functions = {name: member for name, member in declared.items() if inspect.isfunction(member)}
    unmarked = {name for name, member in functions.items() if marker_of(member) is None}
    assert unmarked == ({"__init__"} if cls is cassandra.ClusterBuilder else set())


@pytest.mark.parametrize("cls", CLASSES)
def test_the_constructor_is_a_function_with_parameters(cls):
    constructor = inspect.getattr_static(cls, "__init__")
    assert inspect.isfunction(constructor)
    assert next(iter(inspect.signature(constructor).parameters)) == "self"


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (pulsar.PulsarSource.builder, r"PulsarSource\.builder is not yet supported: .* Pulsar"),
        (pulsar.StartCursor.earliest, r"StartCursor\.earliest is not yet supported"),
        (lambda: cassandra.CassandraSink.add_sink(None), r"CassandraSink\.add_sink is not yet"),
        (
            lambda: cassandra.ClusterBuilder(None),
            r"(?s)ClusterBuilder\(.*never supported.*set_host",
        ),
        (lambda: dynamic_kafka.KafkaStreamSetSubscriber({"a"}), "KafkaStreamSetSubscriber is not"),
    ],
)
def test_the_error_names_the_call_and_the_system(call, text):
    with pytest.raises(UnsupportedFlinkFeature, match=text):
        call()


def test_a_marker_of_its_own_stays():
    router = inspect.getattr_static(pulsar.PulsarSinkBuilder, "set_topic_router")
    assert isinstance(router, unsupported)
    assert router.kind is Gap.NEVER
