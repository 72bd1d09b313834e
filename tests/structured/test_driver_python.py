"""A query on a cluster names what the interpreter of Spark's workers lacks beside the driver."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import pytest

from pyflink_on_spark._compat.errors import EnvironmentSetupError
from pyflink_on_spark._spark.structured.driver_python import check_driver_python


@dataclass
class Context:
    """Spark's, with another interpreter of the workers."""

    pythonExec: str  # noqa: N815 - as Spark has it
    master: str = "spark://somewhere:7077"


@pytest.fixture
def interpreter(tmp_path):
    """Makes a program that runs Python in some way."""

    def make(command):
        program = tmp_path / "python"
        program.write_text(f"#!/bin/sh\n{command}\n")
        program.chmod(0o755)
        return str(program)

    return make


def test_the_drivers_own_interpreter_has_all():
    check_driver_python(Context(sys.executable))


def test_a_library_that_is_missing(interpreter):
    bare = interpreter(f'exec {sys.executable} -S "$@"')
    with pytest.raises(EnvironmentSetupError, match="No module named 'pandas': set PYSPARK_PYTHON"):
        check_driver_python(Context(bare))
    check_driver_python(Context(bare, "local[2]"))


def test_another_version(interpreter):
    other = interpreter('echo "it is Python 3.8.1" >&2; exit 1')
    with pytest.raises(EnvironmentSetupError, match=r"there it is Python 3\.8\.1"):
        check_driver_python(Context(other))


def test_no_interpreter():
    with pytest.raises(EnvironmentSetupError, match=r"No such file.*set PYSPARK_PYTHON"):
        check_driver_python(Context("/nowhere/python"))
