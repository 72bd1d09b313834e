"""The sinks of a job know their places, and no two have the same thing."""

from __future__ import annotations

import dataclasses

import pytest

from pyflink_on_spark._compat.errors import JobTranslationError
from pyflink_on_spark._runtime.contract.connector import Sink
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.datastream.connectors import Sink as StreamSink
from tests.runtime.rounds import recording


@dataclasses.dataclass(frozen=True)
class Owner(Sink):
    wanted: frozenset[str]
    place: tuple[str, ...] = ()

    def writer(self, context):
        raise NotImplementedError

    def in_place(self, job, operator):
        return dataclasses.replace(self, place=(job, operator))

    @property
    def claims(self):
        return self.wanted


def sinks(*wanted):
    env = StreamExecutionEnvironment.get_execution_environment()
    for number, names in enumerate(wanted):
        stream = env.from_collection([number])
        stream.sink_to(StreamSink(Owner(frozenset(names)))).name(f"sink {number}").uid(
            f"id{number}"
        )
    with recording() as recorder:
        env.execute("the job")
    return list(recorder.job.sinks.values())


def test_sinks_know_their_places():
    found = sinks({"a"}, {"b", "c"}, ())
    assert [sink.place for sink in found] == [("the job", f"id{number}") for number in range(3)]


def test_two_sinks_with_one_thing():
    told = r"(?s)cannot both have b: 'sink 1' \(.*test_sinks.py.*\) and 'sink 2' \(.*test_sinks"
    with pytest.raises(JobTranslationError, match=told):
        sinks({"a"}, {"b"}, {"c", "b"})
