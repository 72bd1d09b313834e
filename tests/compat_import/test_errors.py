"""The errors that scripts catch."""

from __future__ import annotations

import pickle
import subprocess
import sys
import textwrap
from importlib import import_module

import pytest

from pyflink_on_spark import errors
from pyflink_on_spark._runtime.types.converters import source_converter
from pyflink_on_spark.common import Types
from pyflink_on_spark.errors import JobCancelledError, JobExecutionError


@pytest.mark.parametrize("name", errors.__all__)
def test_all_are_known_by_the_public_module(name):
    kind = getattr(errors, name)
    assert kind.__module__ == "pyflink_on_spark.errors"
    assert kind.__qualname__ == name
    assert issubclass(kind, errors.PyFlinkOnSparkError)
    assert pickle.loads(pickle.dumps(kind("text"))).args == ("text",)


@pytest.mark.parametrize("kind", [JobExecutionError, JobCancelledError])
def test_a_pyflink_script_catches_the_end_of_its_job(kind):
    java_error = import_module("py4j.protocol").Py4JJavaError
    error = kind("it failed")
    assert isinstance(error, kind)
    assert isinstance(error, java_error)
    assert isinstance(error, RuntimeError)
    assert str(error) == "it failed"
    assert error.errmsg == "it failed"
    assert type(error).__qualname__ == kind.__qualname__


def test_a_java_exception_that_has_the_text_only(capsys):
    import_module("py4j.protocol")
    thrown = JobExecutionError("it failed").java_exception
    assert thrown.toString() == thrown.getMessage() == str(thrown) == "it failed"
    assert thrown.getCause() is None
    thrown.printStackTrace()
    assert capsys.readouterr().err == "it failed\n"


def test_what_is_known_of_an_error_travels():
    error = JobExecutionError("it failed")
    error.spark_error = ValueError("in Spark")
    copy = pickle.loads(pickle.dumps(error))
    assert isinstance(copy, JobExecutionError)
    assert str(copy) == "it failed"
    assert str(copy.spark_error) == "in Spark"


def test_without_py4j_it_is_an_error_of_this_package_only():
    script = """
        import sys
        from pyflink_on_spark.errors import JobExecutionError
        error = JobExecutionError("it failed")
        print(type(error).__mro__[:2], str(error), "py4j" in sys.modules, repr(error))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True
    )
    assert done.stdout == (
        "(<class 'pyflink_on_spark.errors.JobExecutionError'>, "
        "<class 'pyflink_on_spark._compat.errors._EndOfJob'>) it failed False "
        "JobExecutionError('it failed')\n"
    )


def test_an_error_about_a_value_is_a_builtin_too():
    with pytest.raises(errors.ConversionError) as caught:
        source_converter(Types.INT())("x")
    assert isinstance(caught.value, TypeError)
