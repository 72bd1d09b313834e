"""Key groups of keys of every type, against the subtasks to which real PyFlink sent them."""

from __future__ import annotations

import pytest

from compat_tests.key_cases import PLANS, key_cases, recorded
from pyflink_on_spark import common
from pyflink_on_spark._runtime.elements.immutability import wrap_key
from pyflink_on_spark._runtime.key_groups import KeyGroups, subtask_of_key_group
from pyflink_on_spark._runtime.types.converters import key_converter
from pyflink_on_spark.common.typeinfo import PickledBytesTypeInfo

CASES = key_cases(common)


def engine_keys(case):
    key_type, keys = CASES[case]
    if isinstance(key_type, PickledBytesTypeInfo):
        key_type = None
    convert = key_converter(key_type)
    return key_type, [wrap_key(key if convert is None else convert(key)) for key in keys]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("parallelism", "maximum"), PLANS)
def test_each_key_goes_where_flink_sends_it(case, parallelism, maximum):
    key_type, keys = engine_keys(case)
    groups = KeyGroups(maximum, key_type)
    found = [subtask_of_key_group(groups.of(key), maximum, parallelism) for key in keys]
    assert found == recorded()[case][parallelism, maximum]
