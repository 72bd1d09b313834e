"""Base classes of unittest test cases that have an environment, as PyFlink's own tests use them.

On Spark: importing this module leaves the logging module alone; PyFlink's sets it up to write to
standard output.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import unittest
from typing import Any, ClassVar

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark.datastream import RuntimeExecutionMode, StreamExecutionEnvironment

__all__ = [
    "PyFlinkBatchTestCase",
    "PyFlinkITTestCase",
    "PyFlinkStreamingTestCase",
    "PyFlinkTestCase",
    "PyFlinkUTTestCase",
    "replace_uuid",
]

_PARALLELISM = 2
_UUID = re.compile("[a-z0-9]{8}-[a-z0-9]{4}-[a-z0-9]{4}-[a-z0-9]{4}-[a-z0-9]{12}")


class PyFlinkTestCase(unittest.TestCase):
    """A test case with a temporary folder, ``tempdir``."""

    tempdir: ClassVar[str]

    @classmethod
    def setUpClass(cls) -> None:
        """Make the folder."""
        cls.tempdir = tempfile.mkdtemp()

    @classmethod
    def tearDownClass(cls) -> None:
        """Remove the folder."""
        shutil.rmtree(cls.tempdir, ignore_errors=True)

    @classmethod
    def assert_equals(cls, actual: list[Any], expected: list[Any]) -> None:
        """Compare two lists in whatever order; both are sorted."""
        actual.sort()
        expected.sort()
        assert actual == expected, f"{actual} != {expected}"


class PyFlinkITTestCase(PyFlinkTestCase):
    """A test case whose tests share one environment, ``env``."""

    env: ClassVar[StreamExecutionEnvironment]
    _mode: ClassVar[RuntimeExecutionMode | None] = None

    @classmethod
    def setUpClass(cls) -> None:
        """Make the environment."""
        super().setUpClass()
        cls.env = StreamExecutionEnvironment.get_execution_environment()
        cls.env.set_parallelism(_PARALLELISM)
        if cls._mode is not None:
            cls.env.set_runtime_mode(cls._mode)


class PyFlinkStreamingTestCase(PyFlinkITTestCase):
    """A test case with an environment in STREAMING mode."""

    _mode = RuntimeExecutionMode.STREAMING


class PyFlinkBatchTestCase(PyFlinkITTestCase):
    """A test case with an environment in BATCH mode."""

    _mode = RuntimeExecutionMode.BATCH


class PyFlinkUTTestCase(PyFlinkTestCase):
    """A test case with an environment of its own for each test."""

    env: StreamExecutionEnvironment

    def setUp(self) -> None:
        """Make the environment."""
        self.env = StreamExecutionEnvironment.get_execution_environment()
        self.env.set_runtime_mode(RuntimeExecutionMode.STREAMING)
        self.env.set_parallelism(_PARALLELISM)


def replace_uuid(input_obj: object) -> Any:
    """Return a text, or a dict with such texts, with ``{uuid}`` in place of each UUID."""
    if isinstance(input_obj, str):
        return _UUID.sub("{uuid}", input_obj)
    if isinstance(input_obj, dict):
        return {replace_uuid(key): replace_uuid(value) for key, value in input_obj.items()}
    return None


__getattr__ = missing_name(
    __name__, "PyFlink's own works with Java objects, or with the Table API."
)
