"""Committables are committed once, and those that sinks hold back return in later checkpoints."""

from __future__ import annotations

import threading

import pytest

from pyflink_on_spark._connectors.files.config import (
    Compaction,
    CompactionStrategy,
    Concatenation,
)
from pyflink_on_spark._connectors.files.part_file import PendingFile
from pyflink_on_spark._job.checkpoints.commits import Commits, CommitTimeoutError
from pyflink_on_spark._runtime.contract.connector import LargeCommittable, Sink


class Visible(Sink):
    """Makes things visible; holds back those that are not due at a checkpoint yet."""

    def __init__(self):
        self.commits, self.again, self.fails = [], [], False
        self.taken_over = 0

    def writer(self, context):
        raise NotImplementedError

    def hold_back(self, committables, checkpoint_id):
        due = [thing for thing in committables if thing <= checkpoint_id]
        return due, [thing for thing in committables if thing > checkpoint_id]

    def commit(self, committables):
        if self.fails:
            raise OSError("no space left")
        self.commits.append(committables)

    def take_over(self):
        assert not self.again
        self.taken_over += 1

    def commit_again(self, committables):
        self.again.append(committables)


@pytest.fixture
def sinks():
    return {"one": Visible(), "two": Visible()}


@pytest.fixture
def commits(sinks):
    return Commits(sinks)


def checkpoint(commits, number, *prepared, **how):
    written = commits.with_held(prepared)
    commits.checkpoint_complete(written, number)
    commits.commit(**how)
    return written


def test_each_sink_gets_its_own_once(commits, sinks):
    checkpoint(commits, 9, ("one", 1), ("two", 2), ("one", 3))
    commits.commit()
    assert (sinks["one"].commits, sinks["two"].commits) == ([[1, 3]], [[2]])


def test_what_is_held_back_is_part_of_the_next_checkpoint(commits, sinks):
    assert checkpoint(commits, 1, ("one", 1), ("one", 3), ("two", 2)) == [
        ("one", 1), ("one", 3), ("two", 2),
    ]  # fmt: skip
    assert checkpoint(commits, 2, ("one", 2)) == [("one", 3), ("two", 2), ("one", 2)]
    assert checkpoint(commits, 3) == [("one", 3)]
    assert (sinks["one"].commits, sinks["two"].commits) == ([[1], [2], [3]], [[2]])


def test_at_the_end_nothing_is_held_back(commits, sinks):
    checkpoint(commits, 1, ("one", 7))
    checkpoint(commits, 2, ("one", 8), final=True)
    assert sinks["one"].commits == [[7, 8]]


def test_a_last_commit_that_failed_holds_nothing_back_when_it_is_done_again(commits, sinks):
    sinks["one"].fails = True
    with pytest.raises(OSError, match="no space left"):
        checkpoint(commits, 1, ("one", 1), ("one", 5), final=True)
    commits.commit(again=True)
    assert sinks["one"].again == [[1, 5]]
    assert checkpoint(commits, 2, ("one", 7)) == [("one", 7)]
    assert commits.with_held([]) == [("one", 7)]


def test_what_another_job_has_saved_is_not_held_back(commits, sinks):
    commits.checkpoint_complete([("one", 1), ("one", 5)], 1, final=True)
    commits.commit(again=True)
    assert sinks["one"].again == [[1, 5]]
    assert commits.with_held([]) == []


def test_a_sink_may_hold_back_what_another_job_has_held_back(commits, sinks):
    sinks["one"].holds_again = True
    commits.checkpoint_complete([("one", 1), ("one", 5)], 1, final=True, resumed=True)
    commits.commit(again=True)
    assert sinks["one"].again == [[1]]
    assert checkpoint(commits, 5) == [("one", 5)]
    checkpoint(commits, 6, ("one", 9), final=True)
    assert sinks["one"].commits == [[5], [9]]


def test_a_commit_that_failed_is_done_again(commits, sinks):
    sinks["two"].fails = True
    with pytest.raises(OSError, match="no space left"):
        checkpoint(commits, 1, ("one", 1), ("two", 1), ("two", 5))
    commits.commit(again=True)
    assert (sinks["one"].again, sinks["two"].again) == ([[1]], [[1]])
    assert commits.with_held([]) == [("two", 5)]


def test_what_was_prepared_but_never_written_is_forgotten(commits, sinks):
    commits.with_held([("one", 1)])
    commits.commit(again=True)
    assert sinks["one"].again == []


class Compacting(Sink):
    """Makes one file of those of two checkpoints."""

    def __init__(self):
        self.compaction = Compaction(CompactionStrategy(checkpoints=2), Concatenation(b" "))

    def writer(self, context):
        raise NotImplementedError

    def hold_back(self, committables, checkpoint_id):
        return self.compaction.hold_back(committables, checkpoint_id)

    def commit(self, committables):
        self.compaction.commit(committables)

    def commit_again(self, committables):
        self.compaction.commit(committables, again=True)


def test_no_file_is_lost_to_one_that_another_job_has_compacted(tmp_path):
    def part(name, number):
        hidden = tmp_path / f".{name}"
        hidden.write_text(name)
        return "s", PendingFile(str(tmp_path), str(hidden), str(tmp_path / name), 1, number)

    drained = Commits({"s": Compacting()})
    checkpoint(drained, 1, part("a", 1))
    savepoint = drained.with_held([part("b", 2)])
    drained.checkpoint_complete(savepoint, 2, final=True)
    drained.commit()
    later = Commits({"s": Compacting()})
    later.checkpoint_complete(savepoint, 2, final=True)
    later.commit(again=True)
    for number, name in ((3, "c"), (4, "d")):
        checkpoint(later, number, part(name, number))
    checkpoint(later, 5, part("e", 5), final=True)
    found = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert found == {"compacted-a": "a b ", "compacted-c": "c d ", "compacted-e": "e "}


def test_who_was_there_before_is_shut_out_first_even_with_nothing_to_commit(commits, sinks):
    commits.checkpoint_complete([("one", 1)], 1)
    commits.commit(again=True)
    assert [sink.taken_over for sink in sinks.values()] == [1, 1]
    assert sinks["one"].again == [[1]]
    checkpoint(commits, 2, ("one", 2))
    assert sinks["one"].taken_over == 1


def test_each_sink_keeps_what_is_its_own():
    class Keeps(Sink):
        def __init__(self):
            self.kept = []

        def writer(self, context):
            raise NotImplementedError

        def keep(self, committables):
            self.kept.append(committables)

    sinks = {"a": Keeps(), "b": Keeps()}
    Commits(sinks).keep([("a", 1), ("b", 2), ("a", 3)])
    assert (sinks["a"].kept, sinks["b"].kept) == ([[1, 3]], [[2]])


class Waiting(Visible):
    """Holds everything back."""

    def hold_back(self, committables, checkpoint_id):
        return [], committables


def test_what_a_checkpoint_stores_cannot_be_held_back():
    commits = Commits({"one": Waiting()})
    with pytest.raises(TypeError, match="Waiting holds back a LargeCommittable"):
        checkpoint(commits, 1, ("one", LargeCommittable(())))


class PassingTimer:
    """A timer whose time passes while somebody waits."""

    running = []  # noqa: RUF012 - shared by all of them

    def __init__(self, seconds, call):
        self.seconds, self.call = seconds, call

    def start(self):
        self.running.append(self)

    def cancel(self):
        self.running.remove(self)

    @classmethod
    def pass_time(cls):
        timer = cls.running.pop()
        timer.call()


@pytest.mark.parametrize("again", [False, True])
def test_the_log_names_a_commit_that_lasts(commits, sinks, caplog, monkeypatch, again):
    monkeypatch.setattr("pyflink_on_spark._job.checkpoints.commits.Timer", PassingTimer)

    def stalls(committables):
        for _ in range(3):
            PassingTimer.pass_time()

    monkeypatch.setattr(sinks["one"], "commit_again" if again else "commit", stalls)
    checkpoint(commits, 7, ("one", 1), ("two", 2), again=again)
    assert [message.rpartition(", ")[2] for message in caplog.messages] == [
        "since 30 s", "since 60 s", "since 120 s",
    ]  # fmt: skip
    assert "waits for the sink Visible to commit checkpoint 7" in caplog.text
    assert PassingTimer.running == []


def test_what_is_awaited_is_noted_while_it_lasts(sinks):
    noted = []
    commits = Commits(sinks, note=noted.append)
    checkpoint(commits, 7, ("one", 1))
    what = "the sink Visible to commit checkpoint 7"
    assert noted == [what, None]


def test_a_commit_that_fails_is_waited_for_no_longer(commits, sinks, monkeypatch):
    monkeypatch.setattr("pyflink_on_spark._job.checkpoints.commits.Timer", PassingTimer)
    sinks["one"].fails = True
    with pytest.raises(OSError, match="no space"):
        checkpoint(commits, 7, ("one", 1))
    assert PassingTimer.running == []


class Stalled(Visible):
    """Commits only once it is released."""

    def __init__(self):
        super().__init__()
        self.released, self.done = threading.Event(), threading.Event()

    def commit(self, committables):
        self.released.wait()
        super().commit(committables)
        self.done.set()

    def take_over(self):
        self.released.wait()


def test_a_commit_that_takes_too_long_fails_and_may_still_succeed():
    sinks = {"one": Stalled(), "two": Visible()}
    commits = Commits(sinks, limit=0.01)
    text = "waited 0.01 s for the sink Stalled to commit checkpoint 4 .*commit-timeout"
    with pytest.raises(CommitTimeoutError, match=text):
        checkpoint(commits, 4, ("one", 1), ("two", 2))
    assert commits.timed_out
    assert sinks["two"].commits == []
    sinks["one"].released.set()
    assert sinks["one"].done.wait(30)
    assert sinks["one"].commits == [[1]]


def test_taking_over_has_the_same_limit():
    commits = Commits({"one": Stalled()}, limit=0.01)
    with pytest.raises(CommitTimeoutError, match="to commit checkpoint 0"):
        commits.commit(again=True)


def test_with_a_limit_a_commit_fails_with_its_own_error(sinks):
    commits = Commits(sinks, limit=60.0)
    sinks["one"].fails = True
    with pytest.raises(OSError, match="no space left"):
        checkpoint(commits, 1, ("one", 1))
    assert not commits.timed_out
    sinks["one"].fails = False
    checkpoint(commits, 2, ("one", 2))
    assert sinks["one"].commits == [[2]]
