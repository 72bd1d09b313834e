"""execute, execute_async, the job's result, and failures."""

from __future__ import annotations

import time

import pytest
from pyflink.common import Types
from pyflink.common.job_status import JobStatus

from compat_tests.running import Journal, collect


@pytest.fixture
def journal(tmp_path):
    return Journal(tmp_path / "journal")


def test_nothing_to_execute(env):
    with pytest.raises(Exception, match="No operators defined in streaming topology"):
        env.execute()


def test_branches_without_a_sink_run(env, journal):
    env.from_collection([1, 2]).map(journal.write)
    env.execute("my job")
    assert journal.lines() == ["1", "2"]


def test_each_execute_runs_what_was_added_since(env, journal):
    env.from_collection(["first"]).map(journal.write)
    env.execute()
    env.from_collection(["second"]).map(journal.write)
    env.execute()
    assert journal.lines() == ["first", "second"]
    with pytest.raises(Exception, match="No operators defined"):
        env.execute()


def test_a_stream_can_be_used_in_the_next_job(env, run_printed):
    stream = env.from_collection([1, 2], Types.INT()).map(lambda v: v + 1, Types.INT())
    stream.print("a")
    assert run_printed(env) == ["a> 2", "a> 3"]
    stream.print("b")
    assert run_printed(env) == ["b> 2", "b> 3"]


def test_two_sinks_share_their_upstream(env, journal, run_printed):
    def log(value):
        journal.write(value)
        return value

    stream = env.from_collection([1, 2], Types.INT()).map(log, Types.INT())
    stream.print("a")
    stream.map(lambda v: -v, Types.INT()).print("b")
    assert sorted(run_printed(env)) == ["a> 1", "a> 2", "b> -1", "b> -2"]
    assert journal.lines() == ["1", "2"]


def test_result(env):
    env.from_collection([1], Types.INT()).print()
    result = env.execute("a name")
    assert result.get_net_runtime() >= 0
    assert len(str(result.get_job_id())) == 32


class CustomError(Exception):
    pass


def test_failure_shows_the_user_s_error(env):
    def broken_function(value):
        raise CustomError(f"cannot handle {value}")

    env.from_collection([1]).map(broken_function).print()
    with pytest.raises(Exception) as caught:  # noqa: PT011
        env.execute()
    text = str(caught.value)
    assert "CustomError: cannot handle 1" in text
    assert "broken_function" in text
    assert "Traceback (most recent call last)" in text


def test_the_next_job_works_after_a_failure(env, run_printed):
    env.from_collection([0]).map(lambda v: 1 // v).print()
    with pytest.raises(Exception, match="ZeroDivisionError"):
        env.execute()
    env.from_collection([1], Types.INT()).print()
    assert run_printed(env) == ["1"]


def test_execute_async(env, journal):
    env.from_collection([1]).map(journal.write)
    client = env.execute_async("async job")
    result = client.get_job_execution_result().result()
    assert journal.lines() == ["1"]
    assert str(client.get_job_id()) == str(result.get_job_id())


def test_execute_async_raises_through_the_result(env):
    env.from_collection([0]).map(lambda v: 1 // v).print()
    client = env.execute_async()
    with pytest.raises(Exception, match="ZeroDivisionError"):
        client.get_job_execution_result().result()


def test_status_is_a_future(env):
    def slow(value):
        time.sleep(1)
        return value

    env.from_collection([0, 1, 2]).map(slow).print()
    client = env.execute_async()
    assert client.get_job_status().result() in {JobStatus.CREATED, JobStatus.RUNNING}
    client.get_job_execution_result().result()


def test_cancel(env):
    def slow(value):
        time.sleep(0.2)
        return value

    env.from_collection(list(range(100))).map(slow).print()
    client = env.execute_async()
    while client.get_job_status().result() != JobStatus.RUNNING:
        time.sleep(0.05)
    client.cancel().result()
    with pytest.raises(Exception, match=r"JobCancellationException|Job was cancelled"):
        client.get_job_execution_result().result()


def test_environments_are_separate(env, journal):
    from pyflink.datastream import StreamExecutionEnvironment

    other = StreamExecutionEnvironment.get_execution_environment()
    other.set_parallelism(1)
    env.from_collection(["env"]).map(journal.write)
    assert collect(other.from_collection(["other"]).map(lambda v: v)) == ["other"]
    env.execute()
    assert journal.lines() == ["env"]
