"""The base classes of PyFlink's own tests, which users' tests inherit from."""

from __future__ import annotations

import os
import unittest

import pytest

from pyflink_on_spark.common import Types
from pyflink_on_spark.datastream import RuntimeExecutionMode
from pyflink_on_spark.testing import local_engine
from pyflink_on_spark.testing.of_pyflink.test_case_utils import (
    PyFlinkBatchTestCase,
    PyFlinkStreamingTestCase,
    PyFlinkUTTestCase,
    replace_uuid,
)

BASES = [PyFlinkStreamingTestCase, PyFlinkBatchTestCase, PyFlinkUTTestCase]


@pytest.mark.parametrize("base", BASES)
def test_a_case_has_an_environment_and_a_folder(base):
    class Sums(base):
        def test_sums(self):
            assert os.path.isdir(self.tempdir)
            assert self.env.get_parallelism() == 2
            numbers = self.env.from_collection([1, 2], Types.INT()).map(lambda v: v * 2)
            self.assert_equals(list(numbers.execute_and_collect()), [4, 2])

    with local_engine():
        result = unittest.defaultTestLoader.loadTestsFromTestCase(Sums).run(unittest.TestResult())
    assert (result.testsRun, result.errors, result.failures) == (1, [], [])
    assert not os.path.exists(Sums.tempdir)


@pytest.mark.parametrize(
    ("base", "mode"),
    [
        (PyFlinkStreamingTestCase, RuntimeExecutionMode.STREAMING),
        (PyFlinkBatchTestCase, RuntimeExecutionMode.BATCH),
    ],
)
def test_modes(base, mode):
    base.setUpClass()
    try:
        found = base.env._configuration.get_string("execution.runtime-mode", "")
        assert found == mode.name
    finally:
        base.tearDownClass()


def test_wrong_lists_are_told():
    with pytest.raises(AssertionError, match=r"\[1, 2\] != \[1, 3\]"):
        PyFlinkUTTestCase.assert_equals([2, 1], [1, 3])


def test_uuids_are_replaced():
    text = "part-5e11ee7e-9f2d-4a8e-8b58-3f0a1b5a9c11-0"
    assert replace_uuid({"name": text}) == {"name": "part-{uuid}-0"}


def test_the_hook_finds_them():
    from pyflink_on_spark._compat.import_hook import own_name

    expected = "pyflink_on_spark.testing.of_pyflink.test_case_utils"
    assert own_name("pyflink.testing.test_case_utils") == expected
