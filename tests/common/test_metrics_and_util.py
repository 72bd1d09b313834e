"""Metrics' interfaces, exceptions, stability marks, access to Java."""

from __future__ import annotations

import importlib
import types

import pytest

from pyflink_on_spark._compat.errors import UnsupportedFlinkFeature
from pyflink_on_spark.common import Configuration
from pyflink_on_spark.metrics import Counter, Distribution, Meter, Metric, MetricGroup
from pyflink_on_spark.util import exceptions, java_utils
from pyflink_on_spark.util.api_stability_decorators import (
    Deprecated,
    Experimental,
    Internal,
    Public,
    PublicEvolving,
)
from pyflink_on_spark.version import __version__


@pytest.mark.parametrize("interface", [Counter, Meter, Distribution, MetricGroup])
def test_metrics_are_interfaces(interface):
    with pytest.raises(TypeError, match="abstract"):
        interface()


def test_metrics_have_one_root():
    assert all(issubclass(kind, Metric) for kind in (Counter, Meter, Distribution))


def test_the_version_is_pyflinks():
    assert __version__ == "2.3.0"


def test_exceptions_show_their_text():
    error = exceptions.TableException("what went wrong")
    assert isinstance(error, exceptions.JavaException)
    assert (str(error), error.stack_trace) == ("what went wrong", "what went wrong")


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        ("to_jarray", ("t", [])),
        ("load_java_class", ("a.B",)),
        ("is_instance_of", (1, "a.B")),
        ("get_field_value", (1, "f")),
        ("invoke_method", (1, "a.B", "m")),
        ("add_jars_to_context_class_loader", (["a.jar"],)),
        ("get_j_env_configuration", (object(),)),
    ],
)
def test_access_to_java_is_refused_by_name(call, arguments):
    with pytest.raises(UnsupportedFlinkFeature, match=call):
        getattr(java_utils, call)(*arguments)


def test_the_configuration_of_an_environment_is_shared():
    configuration = Configuration()
    handle = types.SimpleNamespace(configuration=configuration)
    view = Configuration(j_configuration=java_utils.get_j_env_configuration(handle))
    view.set_string("a", "b")
    assert configuration.to_dict() == {"a": "b"}


@pytest.mark.parametrize(
    ("mark", "word"),
    [
        (Experimental(), "experimental"),
        (Internal(), "internal"),
        (Public(), "public"),
        (PublicEvolving(), "evolving"),
    ],
)
def test_marks_are_added_to_a_class_and_its_public_members(mark, word):
    @mark
    class Marked:
        """A marked class."""

        def method(self):
            """Do something."""

        def _hidden(self):
            """Nobody sees it."""

    assert "A marked class." in Marked.__doc__
    assert f"**{word}**" in Marked.__doc__
    assert f"**{word}**" in Marked.method.__doc__
    assert f"**{word}**" not in Marked._hidden.__doc__
    assert getattr(Marked, "__stability_decorators") == {type(mark)}
    once = Marked.__doc__
    assert mark(Marked).__doc__ == once


def test_a_deprecation_warns():
    with pytest.warns(
        DeprecationWarning, match=r"old has been deprecated since version 1\.2\. Use"
    ):

        @Deprecated(since="1.2", detail="Use new.")
        def old():
            """Do something in the old way."""

    assert ".. deprecated:: 1.2\n   Use new." in old.__doc__
    with pytest.warns(DeprecationWarning, match="since version 2$|since version 2"):
        Deprecated("2")(lambda: None)


@pytest.mark.parametrize("module", ["common", "metrics"])
def test_everything_that_is_named_is_there(module):
    package = importlib.import_module(f"pyflink_on_spark.{module}")
    assert all(hasattr(package, name) for name in package.__all__)
