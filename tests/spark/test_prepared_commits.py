"""The commits of jobs with BATCH semantics, without Spark."""

from __future__ import annotations

import dataclasses
import threading

import cloudpickle
import pytest

from pyflink_on_spark._job.checkpoints.commits import CommitTimeoutError
from pyflink_on_spark._runtime.elements.immutability import serialize
from pyflink_on_spark._spark.jobs.batch_job import BatchJob, PreparedCommits
from pyflink_on_spark._spark.structured import connect_batch_job
from pyflink_on_spark._spark.structured.connect_batch_job import ConnectBatchJob, _commit
from pyflink_on_spark._spark.structured.server_batches import CommitsRecipe
from tests.runtime.rounds import CutSource, job_of

LIMIT = {"pyflink-on-spark.commit-timeout": "10 ms"}


class Lists:
    """A sink that keeps a list of each."""

    def __init__(self):
        self.committed, self.aborted = [], []
        self.released = threading.Event()
        self.released.set()

    def commit(self, committables):
        assert self.released.wait(30)
        self.committed += committables

    def abort(self, committables):
        self.aborted += committables

    def hold_back(self, committables, checkpoint_id):
        return committables, []


def payload(*things):
    return serialize([(0, thing) for thing in things])


@pytest.fixture
def sink():
    return Lists()


def test_what_other_tasks_have_prepared_is_thrown_away(sink):
    commits = PreparedCommits({0: sink}, LIMIT)
    commits.add([payload("kept"), payload("other")])
    commits.commit([payload("kept")])
    assert (sink.committed, sink.aborted) == (["kept"], ["other"])


def test_after_a_commit_that_takes_too_long_nothing_of_it_is_removed(sink):
    sink.released.clear()
    commits = PreparedCommits({0: sink}, LIMIT)
    commits.add([payload("kept"), payload("other")])
    text = "the sink Lists to commit its results .* writes all its results again"
    with pytest.raises(CommitTimeoutError, match=text):
        commits.commit([payload("kept")])
    commits.abort()
    assert sink.aborted == ["other"]
    sink.released.set()


def test_after_a_commit_that_fails_nothing_of_it_is_removed(sink):
    """Of two sinks one may have committed."""

    def fails(committables):
        raise OSError("no space left")

    sink.commit = fails
    commits = PreparedCommits({0: sink}, LIMIT)
    commits.add([payload("kept"), payload("other")])
    with pytest.raises(OSError, match="no space left"):
        commits.commit([payload("kept")])
    commits.abort()
    assert sink.aborted == ["other"]


class StallsElsewhere(Lists):
    """Never commits; it can go to the server."""

    def __reduce__(self):
        return StallsElsewhere, ()

    def commit(self, committables):
        threading.Event().wait(30)


def test_the_server_answers_why_a_commit_takes_too_long(tmp_path):
    job = job_of(lambda stream: stream.map(str), CutSource([1]), configuration=LIMIT)
    recipe = dataclasses.replace(CommitsRecipe.of(job, ""), sinks={0: StallsElsewhere()})
    told = _commit(cloudpickle.dumps(recipe, 5), [payload("x")], again=False)
    assert "waited 0.01 s for the sink StallsElsewhere" in told


class FailsOnce(Lists):
    """Cannot commit at first."""

    def __init__(self):
        super().__init__()
        self.again = []

    def commit(self, committables):
        raise OSError("no route to host")

    def take_over(self):
        pass

    def commit_again(self, committables):
        self.again += committables


def test_an_attempt_after_a_commit_that_failed_only_commits(monkeypatch):
    job = job_of(lambda stream: stream.map(str), CutSource([1]))
    sink = FailsOnce()
    object.__setattr__(job, "sinks", {0: sink})

    class Computes(BatchJob):
        def _payloads(self, attempt):
            raise NotImplementedError

        def _run_batch(self, attempt):
            return [payload(f"of attempt {attempt}")]

        def _check_cancelled(self):
            pass

        _check_printers = _check_cancelled

    made = Computes(job)
    with pytest.raises(OSError, match="no route to host"):
        made._attempt(0)
    made._attempt(1)
    assert sink.again == ["of attempt 0"]


def test_a_sink_without_results_is_told_again_that_the_job_has_ended():
    """Such as a sink that overwrites a table."""
    sink = FailsOnce()
    told = []
    sink.commit_again = told.append
    commits = PreparedCommits({0: sink}, {})
    with pytest.raises(OSError, match="no route to host"):
        commits.commit([])
    commits.commit([], again=True)
    assert told == [[]]


class OfServer(ConnectBatchJob):
    """A job whose server is a function."""

    def __init__(self, job, call):
        self._job, self._call = job, call
        self.job_id = "x"
        self._session, self._environment = self, None

    def addTag(self, tag):  # noqa: N802 - as Spark names it
        pass

    def collect(self):
        return []

    def _check_cancelled(self):
        pass

    _check_printers = _check_cancelled


def test_the_client_raises_what_the_server_has_answered(monkeypatch):
    job = job_of(lambda stream: stream.map(str), CutSource([1]))
    object.__setattr__(job, "sinks", {0: Lists()})
    asked = []

    def call(function):
        asked.append(function.func)
        return "too late"

    monkeypatch.setattr(connect_batch_job, "frame_of", lambda session, *_: session)
    monkeypatch.setattr(connect_batch_job.CommitsRecipe, "of", lambda *_: b"")
    with pytest.raises(CommitTimeoutError, match="too late"):
        OfServer(job, call)._attempt(0)
    assert asked == [_commit]


def test_the_client_lets_the_server_only_commit_after_an_answer_that_was_lost(monkeypatch):
    job = job_of(lambda stream: stream.map(str), CutSource([1]))
    object.__setattr__(job, "sinks", {0: Lists()})
    answers, asked = [RuntimeError("connection lost"), None], []

    def call(function):
        asked.append(function.args[1:])
        if answer := answers.pop(0):
            raise answer

    computed = []
    monkeypatch.setattr(
        connect_batch_job, "frame_of", lambda *given: computed.append(1) or given[0]
    )
    monkeypatch.setattr(connect_batch_job.CommitsRecipe, "of", lambda *_: b"")
    made = OfServer(job, call)
    with pytest.raises(RuntimeError, match="connection lost"):
        made._attempt(0)
    made._attempt(1)
    assert computed == [1]
    assert asked == [([], False), ([], True)]
