"""Functions that wait: how they are noticed, and what threads they run in."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
import time

import pytest

from pyflink_on_spark._compat.errors import JobExecutionError
from pyflink_on_spark._runtime.task.subtask_threads import (
    SubtaskThreads,
    WaitNotice,
    bound_to_thread,
    thread_usage,
)
from pyflink_on_spark.common import Configuration, Types
from pyflink_on_spark.datastream import (
    KeyedProcessFunction,
    MapFunction,
    StreamExecutionEnvironment,
)
from pyflink_on_spark.testing import local_engine

START = 0.0, 10, 20


def pieces(count, wall, cpu, given_up, lost):
    """Return, for each piece of work, True if its wait is noticed."""
    found = WaitNotice()
    return [found.waits(wall, START, (cpu, 10 + given_up, 20 + lost)) for _ in range(count)]


def test_who_waits_is_noticed_after_a_tenth_of_a_second():
    assert pieces(5, 0.02, 0.0005, 1, 0) == [False] * 4 + [True]


def test_one_long_wait_is_enough():
    assert pieces(1, 2.0, 0.001, 1, 0) == [True]


def test_who_works_does_not_wait():
    assert not any(pieces(40, 0.05, 0.04, 2, 0))


def test_who_wants_a_processor_does_not_wait():
    assert not any(pieces(30, 0.15, 0.004, 0, 6))
    assert not any(pieces(30, 0.15, 0.004, 1, 6))


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/schedstat"), reason="needs Linux's /proc")
def test_the_time_in_which_others_have_all_processors_is_no_wait():
    busy = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"])
        for _ in range(3 * (os.cpu_count() or 1))
    ]
    try:
        usage = thread_usage()
        before, begun = usage.begin(), time.monotonic()
        while time.monotonic() - begun < 1.0:
            sum(range(1000))
        wall = time.monotonic() - begun
        after = usage.end(wall, before)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert after[0] - before[0] > 0.8 * wall


class Holds:
    def __init__(self, thing):
        self.parts = {"inner": [thing]}

    def call(self):
        return self.parts


@pytest.mark.parametrize("thing", [sqlite3.connect(":memory:"), threading.local()])
def test_what_belongs_to_a_thread_is_found_in_functions(thing):
    assert bound_to_thread([Holds(thing)]) is thing
    assert bound_to_thread([Holds(1), Holds(thing).call]) is thing
    assert bound_to_thread([lambda value: (thing, value)]) is thing
    assert bound_to_thread([Holds("plain"), lambda value: value]) is None


def test_large_collections_are_not_searched():
    assert bound_to_thread([Holds([threading.local()] * 101)]) is None


def test_a_thread_does_what_it_is_given_and_tells_when_it_is_done():
    woken = threading.Event()
    threads = SubtaskThreads(woken.set)
    threads.start(7)
    assert 7 in threads
    assert 8 not in threads
    found = []
    threads.submit(7, lambda: found.append(threading.current_thread().name))
    assert threads.finished(None) == (7, None)
    assert found == ["subtask-1"]
    assert woken.wait(5)
    assert threads.call(7, lambda: threading.current_thread().name) == "subtask-1"
    assert threads.finished() is None
    threads.stop()


def test_what_fails_in_a_thread_is_raised_where_it_is_waited_for():
    threads = SubtaskThreads()
    threads.start(1)
    threads.submit(1, lambda: 1 / 0)
    number, error = threads.finished(None)
    assert number == 1
    assert isinstance(error, ZeroDivisionError)
    with pytest.raises(ZeroDivisionError):
        threads.call(1, lambda: 1 / 0)
    threads.stop()


SEEN: dict[str, set[str]] = {}


class Notes(MapFunction):
    """Waits for each element, and notes in which threads it runs."""

    def __init__(self, name, seconds=0.01, fails=None):
        self.name, self.seconds, self.fails = name, seconds, fails

    def open(self, runtime_context):
        self._note("open")

    def map(self, value):
        if self.seconds:
            time.sleep(self.seconds)
        self._note("map")
        if value == self.fails:
            raise OSError("no answer")
        return value

    def close(self):
        self._note("close")

    def _note(self, what):
        SEEN.setdefault(f"{self.name} {what}", set()).add(threading.current_thread().name)


def threads_of(where, count=100, parallelism=1, seconds=0.01, fails=None):
    """Return the results of two functions with an exchange between them, and their threads."""
    SEEN.clear()
    configuration = Configuration()
    configuration.set_string("pyflink-on-spark.waiting-functions", where)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(parallelism)
    stream = env.from_collection(list(range(count)), type_info=Types.LONG()).rebalance()
    stream = stream.map(Notes("a", seconds), output_type=Types.LONG()).rebalance()
    stream = stream.map(Notes("b", seconds, fails), output_type=Types.LONG())
    with local_engine(), stream.execute_and_collect() as results:
        return list(results)


def test_functions_that_wait_get_threads_of_their_own():
    assert threads_of("auto") == list(range(100))
    here = threading.current_thread().name
    a, b = SEEN["a map"] - {here}, SEEN["b map"] - {here}
    assert len(a) == len(b) == 1
    assert a != b
    assert SEEN["a close"] == a


def test_functions_that_work_stay_where_they_are():
    threads_of("auto", count=2_000, seconds=0.0)
    assert set.union(*SEEN.values()) == {threading.current_thread().name}


def test_functions_can_be_forced_to_stay():
    assert threads_of("inline", count=30) == list(range(30))
    assert set.union(*SEEN.values()) == {threading.current_thread().name}


@pytest.mark.parametrize("parallelism", [1, 2])
def test_functions_can_be_opened_and_closed_in_their_threads(parallelism):
    assert sorted(threads_of("thread", 10, parallelism)) == list(range(10))
    for name in "ab":
        assert SEEN[f"{name} open"] == SEEN[f"{name} map"] == SEEN[f"{name} close"]
        assert len(SEEN[f"{name} open"]) == parallelism
    assert SEEN["a map"].isdisjoint(SEEN["b map"] | {threading.current_thread().name})


@pytest.mark.parametrize("where", ["auto", "thread"])
def test_a_failure_in_a_thread_names_the_operator_and_the_element(where):
    with pytest.raises(JobExecutionError, match=r"in operator 'Map'.*\n.*it worked on 70") as found:
        threads_of(where, fails=70)
    assert isinstance(found.value.__cause__, OSError)
    assert not [each for each in threading.enumerate() if each.name.startswith("subtask-")]


class Alarms(KeyedProcessFunction):
    """Emits by how many ms its timers were late."""

    def process_element(self, value, ctx):
        service = ctx.timer_service()
        service.register_processing_time_timer(service.current_processing_time() + 100)

    def on_timer(self, timestamp, ctx):
        yield ctx.timer_service().current_processing_time() - timestamp


def test_timers_do_not_wait_for_a_function_that_is_known_to_wait():
    def wait(value):
        time.sleep(1.5 if value == 80 else 0.01)
        return value

    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    numbers = env.from_collection(list(range(81)), type_info=Types.LONG())
    waits = numbers.rebalance().map(wait, output_type=Types.LONG()).rebalance()
    beside = numbers.rebalance().map(Notes("c", 0.02), output_type=Types.LONG()).key_by(lambda v: v)
    late = beside.process(Alarms(), output_type=Types.LONG())
    with local_engine(), waits.filter(lambda v: False).union(late).execute_and_collect() as results:
        found = list(results)
    assert len(found) > 40
    assert max(found) < 900
