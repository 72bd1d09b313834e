"""File sinks under checkpoints: what continues, what becomes visible, what a restart does."""

from __future__ import annotations

import contextlib
import os
import pickle
import re
from collections import Counter
from types import SimpleNamespace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pyflink_on_spark._connectors.files.bucket_naming import BasePathBuckets, DateTimeBuckets
from pyflink_on_spark._connectors.files.config import (
    ON_CHECKPOINT,
    Compaction,
    CompactionStrategy,
    Concatenation,
    FileSinkConfig,
    RollingLimits,
)
from pyflink_on_spark._connectors.files.sink import PartFileSink
from pyflink_on_spark._runtime.contract.operator import TaskInfo
from pyflink_on_spark._runtime.operators.stateless import SinkOperator, writer_snapshots
from pyflink_on_spark._runtime.state.operator_state import OperatorState, redistribute
from pyflink_on_spark.common.typeinfo import Types
from tests.effort import share

HIDDEN = r"\.part-.*\.inprogress\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"


class ManualClock:
    def __init__(self):
        self.time = 0

    def now(self):
        return self.time


class SinkJob:
    """The subtasks of a sink, the checkpoints that they make, and the driver that commits.

    Args:
        options: the sink's.
        parallelism: how many subtasks.
    """

    def __init__(self, options, parallelism=1):
        self.options, self.clock = options, ManualClock()
        self.saved, self.held, self.number, self.attempt = None, [], 0, 0
        self.copied = False
        self.begin(parallelism)

    def begin(self, parallelism, new_process=True):
        """Start subtasks from the last checkpoint, in this driver or in another one."""
        if new_process:
            self.sink = PartFileSink(self.options).with_input_type(Types.STRING())
            self.attempt = 0
        operators = []
        shares = redistribute(pickle.loads(self.saved), parallelism) if self.saved else None
        for index in range(parallelism):
            state = OperatorState()
            if shares:
                state.restore(shares[index])
            operator = pickle.loads(pickle.dumps(SinkOperator(self.sink, 0)))
            operator.open(
                SimpleNamespace(
                    clock=self.clock,
                    task=TaskInfo("sink", index, parallelism, attempt=self.attempt),
                    operator_state=state,
                    restored=self.number if shares else None,
                    copied=self.copied,
                    checkpointed=True,
                )
            )
            operators.append((operator, state))
        self.subtasks = operators

    def write(self, lines, subtask=0):
        self.subtasks[subtask % len(self.subtasks)][0].process(iter(lines))

    def advance(self, milliseconds):
        self.clock.time += milliseconds
        for operator, _ in self.subtasks:
            operator.advance_processing_time(self.clock.time)

    def checkpoint(self, commit=True):
        """Make a checkpoint; ``commit=False``: the driver dies before it has committed."""
        self.number += 1
        things = list(self.held)
        for operator, _ in self.subtasks:
            operator.snapshot_state(self.number)
            things += [thing for _, thing in operator.committables()]
        self.saved = pickle.dumps([state.snapshot() for _, state in self.subtasks])
        self.safe = pickle.dumps(things)
        if commit:
            self.commit()
            for operator, _ in self.subtasks:
                operator.notify_checkpoint_complete(self.number)

    def half_a_checkpoint(self):
        """All subtasks have their state ready, and then the job fails."""
        for operator, _ in self.subtasks:
            operator.snapshot_state(self.number + 1)

    def commit(self, again=False):
        ready, self.held = self.sink.hold_back(pickle.loads(self.safe), self.number)
        (self.sink.commit_again if again else self.sink.commit)(ready)

    def restart(self, parallelism=1, *, new_process=True, closed=False):
        """Lose the subtasks, and start again from the last checkpoint."""
        if closed:
            for operator, _ in self.subtasks:
                operator.close()
        else:
            forget_open_files(self.options.base_path)
        self.attempt += 1
        if self.saved:
            self.commit(again=True)
        self.begin(parallelism, new_process)

    def finish(self):
        things = list(self.held)
        for operator, _ in self.subtasks:
            operator.end_input()
            things += [thing for _, thing in operator.committables()]
        self.sink.commit(things)
        for operator, _ in self.subtasks:
            operator.notify_checkpoint_complete(self.number + 1)
            operator.close()


def forget_open_files(folder):
    """Lose what is not written yet, as a process that is killed does."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):
            if os.readlink(f"/proc/self/fd/{name}").startswith(f"{folder}/"):
                os.dup2(nowhere, int(name))
    os.close(nowhere)


def options_for(folder, **more):
    return FileSinkConfig(str(folder), **{"buckets": BasePathBuckets(), **more})


def visible(folder):
    """The lines that users see, in all files."""
    files = [p for p in folder.rglob("*") if p.is_file() and not p.name.startswith(".")]
    return sorted(line for path in files for line in path.read_text().splitlines())


def hidden(folder):
    return sorted(p.name for p in folder.rglob(".*"))


def test_a_part_file_goes_on_across_checkpoints(tmp_path):
    job = SinkJob(options_for(tmp_path))
    job.write("ab")
    job.checkpoint()
    job.write("c")
    job.checkpoint()
    assert visible(tmp_path) == []
    (name,) = hidden(tmp_path)
    assert re.fullmatch(HIDDEN, name)
    job.finish()
    (path,) = tmp_path.iterdir()
    assert path.read_text() == "a\nb\nc\n"


def test_what_a_checkpoint_covers_is_on_the_disk(tmp_path):
    job = SinkJob(options_for(tmp_path))
    job.write("ab")
    job.checkpoint()
    (path,) = tmp_path.iterdir()
    assert path.read_text() == "a\nb\n"


def test_on_checkpoint_rolling_makes_all_visible_with_each_checkpoint(tmp_path):
    job = SinkJob(options_for(tmp_path, rolling=ON_CHECKPOINT))
    job.write("ab")
    job.checkpoint()
    assert visible(tmp_path) == ["a", "b"]
    job.write("c")
    job.half_a_checkpoint()
    assert visible(tmp_path) == ["a", "b"]
    job.restart()
    job.checkpoint()
    assert (visible(tmp_path), hidden(tmp_path)) == (["a", "b"], [])


def test_what_a_savepoint_names_is_there_whatever_the_job_goes_back_to(tmp_path):
    job = SinkJob(options_for(tmp_path, rolling=ON_CHECKPOINT))
    job.write("a")
    job.checkpoint()
    before = job.saved, job.safe
    job.write("b")
    job.checkpoint(commit=False)  # the savepoint
    savepoint = pickle.loads(job.safe)
    for _ in range(2):
        job.sink.keep(savepoint)
    job.saved, job.safe = before
    job.restart()
    job.sink.commit_again(savepoint)
    assert visible(tmp_path) == ["a", "b"]


def savepoint_of(job):
    """Make a savepoint, let the sink keep what it names, and return how a job begins with it."""
    before = job.saved, job.safe if job.saved else None
    job.checkpoint(commit=False)
    saved = job.saved, job.safe
    in_writers = writer_snapshots(pickle.loads(job.saved)) if job.sink.keeps_snapshots else []
    job.sink.keep([*pickle.loads(job.safe), *in_writers])
    job.saved, job.safe = before
    return saved


@pytest.mark.parametrize("new_process", [True, False])
def test_a_part_file_that_a_savepoint_goes_on_with_is_there_though_the_job_went_back_behind_it(
    tmp_path, new_process
):
    job = SinkJob(options_for(tmp_path))
    job.checkpoint()
    job.write("ab")
    savepoint = savepoint_of(job)
    job.write("c")
    job.restart(closed=True, new_process=new_process)
    job.write("ab")
    job.checkpoint()
    job.restart(new_process=new_process)
    job.saved, job.safe = savepoint
    job.restart()
    job.write("d")
    job.finish()
    assert visible(tmp_path) == ["a", "b", "d"]


def test_a_part_file_that_a_savepoint_goes_on_with_leaves_no_mark_when_it_is_finished(tmp_path):
    job = SinkJob(options_for(tmp_path))
    job.write("a")
    savepoint = savepoint_of(job)
    assert [name.count(".savepoint") for name in hidden(tmp_path)] == [0, 1]
    for _ in range(2):
        job.write("b")
        job.checkpoint()
    job.finish()
    assert (visible(tmp_path), hidden(tmp_path)) == (["a", "b", "b"], [])
    job.saved, job.safe = savepoint
    with pytest.raises(FileNotFoundError, match="finished later"):
        job.restart()


@pytest.mark.parametrize("strategy", [None, CompactionStrategy(checkpoints=1)])
def test_a_mark_goes_with_what_is_committed_after_a_failure(tmp_path, strategy):
    compaction = strategy and Compaction(strategy, Concatenation())
    job = SinkJob(options_for(tmp_path, rolling=ON_CHECKPOINT, compaction=compaction))
    job.write("a")
    job.saved, job.safe = savepoint_of(job)
    assert len(hidden(tmp_path)) == 2
    job.commit(again=True)
    assert (visible(tmp_path), hidden(tmp_path)) == (["a"], [])


def test_a_job_that_commits_what_a_savepoint_names_leaves_no_mark(tmp_path):
    job = SinkJob(options_for(tmp_path, rolling=ON_CHECKPOINT))
    job.write("a")
    job.checkpoint(commit=False)
    job.sink.keep(pickle.loads(job.safe))
    assert len(hidden(tmp_path)) == 2
    job.commit()
    assert (visible(tmp_path), hidden(tmp_path)) == (["a"], [])


def test_a_part_that_is_too_large_is_finished_by_a_checkpoint(tmp_path):
    job = SinkJob(options_for(tmp_path, rolling=RollingLimits(2)))
    job.write(["abc"])
    job.checkpoint()
    assert visible(tmp_path) == ["abc"]


@pytest.mark.parametrize(("limits", "ends"), [((1000, 10**6), 1000), ((10**6, 300), 500)])
def test_time_finishes_parts_while_no_elements_come(tmp_path, limits, ends):
    policy = RollingLimits(100, *limits)
    job = SinkJob(options_for(tmp_path, rolling=policy, bucket_check_interval=100))
    job.write("a")
    job.advance(200)
    job.write("b")
    job.advance(ends - 201)
    job.checkpoint()
    assert visible(tmp_path) == []
    job.advance(100)
    assert visible(tmp_path) == []
    job.checkpoint()
    assert visible(tmp_path) == ["a", "b"]


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("new_process", [True, False])
def test_a_restart_cuts_off_what_came_after_the_checkpoint(tmp_path, closed, new_process):
    job = SinkJob(options_for(tmp_path))
    job.write("ab")
    job.checkpoint()
    job.write(["lost" * 5000])
    job.half_a_checkpoint()
    job.restart(closed=closed, new_process=new_process)
    job.write("c")
    job.finish()
    (path,) = tmp_path.iterdir()
    assert path.read_text() == "a\nb\nc\n"


def test_a_part_that_was_finished_after_the_checkpoint_goes_on(tmp_path):
    job = SinkJob(options_for(tmp_path, rolling=RollingLimits(8)))
    job.write("ab")
    job.checkpoint()
    job.write(["lost-lost", "lost", "lost-lost"])
    job.half_a_checkpoint()
    job.restart(closed=True)
    job.write("c")
    job.finish()
    assert (visible(tmp_path), hidden(tmp_path)) == (["a", "b", "c"], [])


@pytest.mark.parametrize("new_process", [True, False])
def test_files_that_nobody_needs_are_removed(tmp_path, new_process):
    others = tmp_path / ".part-x-0.inprogress.00000000-0000-4000-8000-000000000000"
    others.touch()
    job = SinkJob(options_for(tmp_path, rolling=ON_CHECKPOINT))
    job.checkpoint()
    job.write("a")
    assert len(hidden(tmp_path)) == 2
    job.restart(new_process=new_process)
    job.write("b")
    job.restart(new_process=new_process)  # from a checkpoint that the last process did not write
    job.write("c")
    job.checkpoint()
    assert (visible(tmp_path), hidden(tmp_path)) == (["c"], [others.name])


def test_files_are_not_removed_before_it_is_known_that_nobody_else_writes_them(tmp_path):
    job = SinkJob(options_for(tmp_path, rolling=ON_CHECKPOINT))
    job.checkpoint()
    older = pickle.loads(pickle.dumps(job.sink)), job.attempt
    job.restart(new_process=True)
    younger = job.sink, job.attempt
    job.write("a")
    job.sink, job.attempt = older[0], older[1] + 1
    job.begin(1, new_process=False)  # of a driver that does not know of the younger one
    job.write("x")
    job.subtasks[0][0].close()
    job.sink, job.attempt = younger
    assert len(hidden(tmp_path)) == 1


def test_a_copy_from_a_savepoint_leaves_the_files_of_the_job_alone(tmp_path):
    job = SinkJob(options_for(tmp_path, rolling=ON_CHECKPOINT))
    job.checkpoint()
    copy = SinkJob(options_for(tmp_path, rolling=ON_CHECKPOINT))
    copy.saved, copy.number, copy.copied = job.saved, job.number, True
    copy.begin(1)
    job.write("a")
    copy.write("b")
    copy.checkpoint()
    copy.copied = False
    copy.restart(closed=True)
    copy.checkpoint()
    job.checkpoint()
    assert (visible(tmp_path), hidden(tmp_path)) == (["a", "b"], [])


def test_what_beaten_copies_of_tasks_have_left_goes_when_the_job_ends(tmp_path):
    job = SinkJob(options_for(tmp_path))
    job.write("a")
    job.checkpoint()
    job.restart(new_process=False)
    other = SinkJob(options_for(tmp_path))
    other.write(["of another job"])
    task = job.subtasks
    job.begin(1, new_process=False)  # another copy of the task, which is killed
    job.write(["of the copy"])
    job.subtasks = task
    job.write("b")
    job.finish()
    left = hidden(tmp_path)
    job.sink.remove_leftovers(attempts=2)
    assert len(left) > len(hidden(tmp_path)) == 1
    assert visible(tmp_path) == ["a", "b"]
    other.finish()
    assert visible(tmp_path) == ["a", "b", "of another job"]


def test_what_a_savepoint_names_stays_when_the_job_ends(tmp_path):
    job = SinkJob(options_for(tmp_path))
    job.checkpoint()
    job.write("ab")
    savepoint = savepoint_of(job)
    job.restart(closed=True, new_process=False)
    job.finish()
    job.sink.remove_leftovers(attempts=2)
    job.saved, job.safe = savepoint
    job.restart()
    job.finish()
    assert (visible(tmp_path), hidden(tmp_path)) == (["a", "b"], [])


def test_a_restart_without_a_checkpoint_begins_anew(tmp_path):
    job = SinkJob(options_for(tmp_path))
    job.write("a")
    job.restart(new_process=False)
    job.write("b")
    job.finish()
    assert (visible(tmp_path), hidden(tmp_path)) == (["b"], [])


@pytest.mark.parametrize(("before", "after"), [(4, 1), (1, 3), (2, 3), (3, 2)])
def test_parts_in_progress_are_dealt_out(tmp_path, before, after):
    job = SinkJob(options_for(tmp_path), before)
    lines = [f"{subtask}" for subtask in range(before)]
    for subtask in range(before):
        job.write(lines[subtask], subtask)
    job.checkpoint()
    job.restart(after)
    for subtask in range(after):
        job.write(["more"], subtask)
    job.checkpoint()
    job.restart(after)
    job.finish()
    assert visible(tmp_path) == sorted([*lines, *["more"] * after])
    assert hidden(tmp_path) == []


def test_numbers_go_on_after_a_restart(tmp_path):
    options = options_for(tmp_path, rolling=RollingLimits(2), named_by_subtask=True)
    job = SinkJob(options, 2)
    job.write(["aa", "bb"], 0)
    job.write(["cc", "dd"], 1)
    job.checkpoint()
    for path in tmp_path.iterdir():
        path.rename(tmp_path / f"moved-{path.name}")
    job.restart(1)
    job.write(["ee"])
    job.finish()
    assert [p.name for p in tmp_path.glob("part-*")] == ["part-0-2"]


@pytest.mark.parametrize("strategy", [None, CompactionStrategy(checkpoints=1)])
def test_files_that_were_committed_and_taken_away_are_not_missed(tmp_path, strategy):
    compaction = strategy and Compaction(strategy, Concatenation())
    job = SinkJob(options_for(tmp_path, rolling=ON_CHECKPOINT, compaction=compaction), 2)
    job.write("a", 0)
    job.write("b", 1)
    job.checkpoint()
    for path in tmp_path.iterdir():
        path.unlink()
    job.restart()
    job.write("c")
    job.finish()
    assert visible(tmp_path) == ["c"]


def test_a_part_file_that_is_gone_is_named(tmp_path):
    job = SinkJob(options_for(tmp_path))
    job.write("ab")
    job.checkpoint()
    (path,) = tmp_path.iterdir()
    path.unlink()
    with pytest.raises(FileNotFoundError, match=f"{re.escape(path.name)}, which is gone"):
        job.restart()


@pytest.mark.parametrize("size", [1, 9])
@pytest.mark.parametrize("strategy", [None, CompactionStrategy(checkpoints=1)])
def test_a_finished_file_that_was_changed_does_not_become_visible(tmp_path, strategy, size):
    compaction = strategy and Compaction(strategy, Concatenation())
    job = SinkJob(options_for(tmp_path, rolling=ON_CHECKPOINT, compaction=compaction))
    job.write("ab")
    job.checkpoint(commit=False)
    (path,) = tmp_path.iterdir()
    os.truncate(path, size)
    for again in (False, True):
        with pytest.raises(OSError, match=f"has {size} bytes, and had 4 when it was finished"):
            job.commit(again=again)
    assert visible(tmp_path) == []


def test_a_part_file_that_has_lost_bytes_is_named(tmp_path):
    job = SinkJob(options_for(tmp_path))
    job.write("ab")
    job.checkpoint()
    (path,) = tmp_path.iterdir()
    os.truncate(path, 3)
    with pytest.raises(OSError, match=f"{re.escape(path.name)} has 3 bytes, fewer than the 4"):
        job.restart()


def test_a_failed_checkpoint_leaves_the_file_that_the_one_before_resumes(tmp_path):
    job = SinkJob(options_for(tmp_path, rolling=RollingLimits(part_size=4)))
    job.write(["ab"])
    job.checkpoint()
    job.write(["cd", "ef"])  # the first part file is finished, and is a committable
    job.half_a_checkpoint()
    job.sink.abort([thing for _, thing in job.subtasks[0][0].committables()])
    job.restart(closed=True)
    job.write(["gh"])
    job.finish()
    assert visible(tmp_path) == ["ab", "gh"]
    assert hidden(tmp_path) == []


def test_a_process_that_lost_the_job_cannot_write_into_resumed_files(tmp_path):
    job = SinkJob(options_for(tmp_path))
    job.write(["ab"])
    job.checkpoint()
    ((lost, _),) = job.subtasks
    job.begin(1)
    job.write(["cd"])
    lost.process(iter(["of the lost process"]))
    lost.snapshot_state(2)
    lost.close()
    job.checkpoint()
    job.finish()
    assert visible(tmp_path) == ["ab", "cd"]
    assert hidden(tmp_path) == []


def test_compaction_waits_for_as_many_checkpoints_as_told(tmp_path):
    strategy = CompactionStrategy(checkpoints=3)
    compaction = Compaction(strategy, Concatenation())
    job = SinkJob(options_for(tmp_path, rolling=ON_CHECKPOINT, compaction=compaction), 2)
    for line in "abcd":
        assert visible(tmp_path) == ([] if line < "d" else list("AABBCC"))
        job.write(line.upper(), 0)
        job.write(line.upper(), 1)
        job.checkpoint()
    assert len([p for p in tmp_path.iterdir() if not p.name.startswith(".")]) == 1
    job.restart(1)
    job.finish()
    assert visible(tmp_path) == list("AABBCCDD")
    assert hidden(tmp_path) == []


def test_compaction_waits_for_as_many_bytes_as_told(tmp_path):
    strategy = CompactionStrategy(size_threshold=6)
    compaction = Compaction(strategy, Concatenation())
    job = SinkJob(options_for(tmp_path, rolling=ON_CHECKPOINT, compaction=compaction))
    for line in "abcd":
        job.write(line)
        job.checkpoint(commit=False)
        job.restart()
    assert visible(tmp_path) == ["a", "b", "c"]


POLICIES = {
    "default": RollingLimits(),
    "small": RollingLimits(6),
    "timed": RollingLimits(100, 50, 30),
    "on checkpoint": ON_CHECKPOINT,
}
WAITING = {
    "none": None,
    "checkpoints": CompactionStrategy(checkpoints=2),
    "size": CompactionStrategy(size_threshold=8),
}
STEPS = st.one_of(
    st.tuples(st.just("write"), st.integers(1, 4), st.integers(0, 3)),
    st.tuples(st.just("advance"), st.integers(1, 40)),
    st.tuples(st.just("checkpoint"), st.booleans()),
    st.just(("half a checkpoint",)),
    st.tuples(st.just("restart"), st.integers(1, 3), st.booleans(), st.booleans()),
)


@settings(max_examples=share(60), deadline=None)
@example(
    steps=[("write", 1, 0), ("checkpoint", False), ("write", 1, 0), ("restart", 1, False, False)],
    policy="default",
    compaction="checkpoints",
    timed=False,
    numbered=False,
    parallelism=1,
)
@given(
    steps=st.lists(STEPS, max_size=25),
    policy=st.sampled_from(sorted(POLICIES)),
    compaction=st.sampled_from(sorted(WAITING)),
    timed=st.booleans(),
    numbered=st.booleans(),
    parallelism=st.integers(1, 3),
)
def test_restarts_anywhere_lose_and_repeat_nothing(
    tmp_path_factory, steps, policy, compaction, timed, numbered, parallelism
):
    folder = tmp_path_factory.mktemp("sink")
    strategy = WAITING[compaction]
    job = SinkJob(
        FileSinkConfig(
            str(folder),
            buckets=DateTimeBuckets("SSS", "UTC") if timed else BasePathBuckets(),
            rolling=POLICIES[policy],
            bucket_check_interval=10,
            compaction=strategy and Compaction(strategy, Concatenation()),
            named_by_subtask=numbered,
        ),
        parallelism,
    )
    written = safe = 0
    for kind, *arguments in steps:
        match kind:
            case "write":
                count, subtask = arguments
                job.write([f"{n}" for n in range(written, written + count)], subtask)
                written += count
            case "advance":
                job.advance(*arguments)
            case "checkpoint":
                job.checkpoint(*arguments)
                safe = written
                if not arguments[0]:
                    job.restart(len(job.subtasks))
            case "half a checkpoint":
                job.half_a_checkpoint()
                job.restart(len(job.subtasks), new_process=job.saved is not None)
                written = safe
            case "restart":
                count, new_process, closed = arguments
                if job.saved is None:
                    new_process = (
                        False  # nobody would know of the files of a job that saved nothing
                    )
                job.restart(count, new_process=new_process, closed=closed)
                written = safe
        seen = Counter(visible(folder))
        assert set(seen) <= {f"{n}" for n in range(safe)}
        assert not seen or max(seen.values()) == 1
    job.finish()
    assert visible(folder) == sorted(f"{n}" for n in range(written))
    assert hidden(folder) == []
