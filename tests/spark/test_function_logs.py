"""Log records of user functions in workers arrive in the driver's log."""

from __future__ import annotations

import logging

import pytest

from pyflink_on_spark._compat.errors import JobExecutionError
from pyflink_on_spark.datastream import RuntimeExecutionMode

LOG = logging.getLogger("mine")


def noted(value):
    LOG.info("seen %d", value)
    return value


def refused(value):
    LOG.error("no %d", value)
    raise ValueError(value)


@pytest.mark.parametrize("mode", [RuntimeExecutionMode.STREAMING, RuntimeExecutionMode.BATCH])
def test_records_have_the_operator_and_the_subtask(env, caplog, mode):
    caplog.set_level(logging.INFO, "pyflink_on_spark.functions")
    env.set_runtime_mode(mode)
    list(env.from_collection([1, 2]).map(noted).name("noting").execute_and_collect())
    told = [r.getMessage() for r in caplog.records if r.name == "pyflink_on_spark.functions"]
    assert told == ["[noting (1/1)] mine: seen 1", "[noting (1/1)] mine: seen 2"]


@pytest.mark.parametrize("mode", [RuntimeExecutionMode.STREAMING, RuntimeExecutionMode.BATCH])
def test_what_a_function_logs_before_it_fails(env, caplog, mode):
    env.set_runtime_mode(mode)
    with pytest.raises(JobExecutionError):
        list(env.from_collection([7]).map(refused).name("noting").execute_and_collect())
    assert "[noting (1/1)] mine: no 7" in caplog.messages
