"""The coordinator's checkpoints of changes, with slots that are in this process; without Spark."""

from __future__ import annotations

import errno
import logging
import os
import resource
import threading
from pathlib import Path

import pytest

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._job.checkpoints.checkpoint_settings import CheckpointSettings
from pyflink_on_spark._job.checkpoints.checkpoint_writer import HostSnapshot, SlowCheckpoint
from pyflink_on_spark._job.checkpoints.commits import CommitTimeoutError
from pyflink_on_spark._job.checkpoints.coordinator import CheckpointCoordinator
from pyflink_on_spark._runtime.checkpoints.checkpoint import (
    find_checkpoint,
    read_metadata,
)
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import Folder, folder
from pyflink_on_spark._runtime.checkpoints.slot_state import (
    OperatorSubtaskState,
    SlotState,
    TaskStateSnapshot,
    records_of,
)
from pyflink_on_spark._runtime.checkpoints.snapshot_writer import WHOLE, file_name
from pyflink_on_spark._runtime.contract.connector import Sink
from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._runtime.contract.plan import OperatorPlan
from pyflink_on_spark._runtime.diagnosis import SubtaskFailure
from pyflink_on_spark._runtime.operators.stateless import SinkOperator
from pyflink_on_spark._runtime.state.operator_state import OperatorSnapshot
from tests.runtime.checkpoints.checkpointed import (
    MAXIMUM,
    content,
    restored,
    slot_of,
    slots,
    write,
    write_file,
)
from tests.runtime.harness import FakeClock


class Hosts:
    """Slots that write their state on demand."""

    def __init__(self):
        self.slots = slots(2)
        self.fails = None
        self.writing = lambda: None
        self.completed, self.aborted = [], []

    def snapshot(self, number, where, contents=WHOLE, *, halt=False, timeout=None):
        self.timeout, self.halt = timeout, halt
        self.writing()
        files = write(folder(where), self.slots, number, contents)
        if self.fails is not None:
            raise self.fails
        return {slot: HostSnapshot(file, []) for slot, file in files.items()}

    def notify_checkpoint_complete(self, number):
        self.completed.append(number)

    def notify_checkpoint_aborted(self, number):
        self.aborted.append(number)

    def update(self, key, value):
        slot_of(self.slots, key).states["value"].update(value)


class World:
    def __init__(self, path, **more):
        self.path, self.hosts, self.clock = path, Hosts(), FakeClock()
        settings = {
            "state.changelog.enabled": "true",
            "execution.checkpointing.interval": "1 s",
            "execution.checkpointing.dir": path.as_uri(),
            "execution.checkpointing.tolerable-failed-checkpoints": "1",
            **{f"execution.checkpointing.{k.replace('_', '-')}": v for k, v in more.items()},
        }
        if settings["execution.checkpointing.interval"] == "never":
            del settings["execution.checkpointing.interval"]
        self.coordinator = CheckpointCoordinator(
            CheckpointSettings.of(settings), "j", "job", [], {}, self.clock
        )

    def checkpoint(self):
        self.coordinator.checkpoint(self.hosts)
        return self.coordinator.restore[1]

    def savepoint(self, **how):
        place = self.coordinator.savepoint_folder(str(self.path / "savepoints"))
        return self.coordinator.savepoint(self.hosts, place, **how)

    def is_saved(self, where=None):
        place = find_checkpoint(where or self.coordinator.restore[1])
        assert content(restored(place, 3)) == content(self.hosts.slots)

    def shared(self):
        return [name for name in os.listdir(self.path / "j" / "shared") if name.endswith("0")]


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path)
    for key in range(30):
        world.hosts.update(key, f"{key} " * 20)
    return world


def test_bases_and_changes(world):
    for number in (1, 2, 3):
        world.hosts.update("x", number)
        world.checkpoint()
        world.is_saved()
    assert sorted(world.shared()) == ["base-1-slot-0", "delta-2-slot-0", "delta-3-slot-0"]
    assert sorted(os.listdir(world.path / "j")) == ["chk-3", "shared"]
    world.clock.time += 600_000
    world.checkpoint()
    world.is_saved()
    assert world.shared() == ["base-4-slot-0"]
    assert world.hosts.completed == [1, 2, 3, 4]


def test_changes_that_outgrow_their_base(world):
    world.checkpoint()
    for number in range(2, 6):
        for key in range(30):
            world.hosts.update(key, f"{number}{key} " * 20)
        world.checkpoint()
        world.is_saved()
    assert any(name.startswith("base-") for name in world.shared())
    assert "base-1-slot-0" not in world.shared()


def test_after_a_failure_nothing_is_missing(world):
    world.checkpoint()
    world.hosts.update(1, "changed")
    world.hosts.fails = CheckpointError("a slot cannot write")
    world.coordinator.checkpoint(world.hosts)
    assert world.coordinator.restore[0] == 1
    world.hosts.fails = None
    world.checkpoint()
    world.is_saved()
    assert world.shared() == ["base-3-slot-0"]


def test_a_new_attempt_begins_with_a_base(world):
    world.checkpoint()
    world.coordinator.attempt_begins()
    world.checkpoint()
    assert world.shared() == ["base-2-slot-0"]


def test_a_savepoint_is_whole_and_stays(world):
    world.checkpoint()
    world.hosts.update(1, "changed")
    path = world.savepoint()
    assert sorted(os.listdir(Path(path))) == ["_metadata", "committables", "slot-0", "slot-1"]
    world.is_saved(path)
    world.checkpoint()
    world.is_saved()
    assert sorted(world.shared()) == ["base-1-slot-0", "delta-3-slot-0"]
    world.coordinator.job_finished()
    assert os.listdir(world.path) == ["savepoints"]


def test_a_job_that_goes_on_never_goes_back_to_a_savepoint(world):
    before = world.checkpoint()
    world.hosts.update(1, "changed")
    world.savepoint()
    assert world.coordinator.restore[:2] == (1, before)
    assert (world.hosts.completed, world.hosts.aborted) == ([1], [])


def test_without_checkpoints_there_is_nothing_to_go_back_to(tmp_path):
    world = World(tmp_path, interval="never")
    world.savepoint()
    assert world.coordinator.restore is None
    assert not world.coordinator.over


def test_a_job_that_ends_with_a_savepoint_goes_on_from_there(world):
    world.checkpoint()
    path = world.savepoint(stop=True)
    assert world.coordinator.restore[:2] == (2, path)
    world.coordinator.notify_last(world.hosts)
    assert world.hosts.completed == [1, 2]
    assert world.coordinator.over


def test_several_checkpoints_are_kept(tmp_path):
    world = World(tmp_path, num_retained="2")
    for key in range(30):
        world.hosts.update(key, f"{key} " * 20)
    places = []
    for number in range(5):
        world.hosts.update("x", number)
        places.append(world.checkpoint())
        if number == 2:
            world.coordinator.attempt_begins()
    assert sorted(os.listdir(tmp_path / "j")) == ["chk-4", "chk-5", "shared"]
    assert sorted(world.shared()) == ["base-4-slot-0", "delta-5-slot-0"]
    assert content(restored(folder(places[3]), 1)) != content(restored(folder(places[4]), 1))


UNWRITTEN = CheckpointError("a slot cannot write")


def test_only_so_many_failures_in_a_row_are_tolerated(tmp_path):
    world = World(tmp_path, tolerable_failed_checkpoints="2")
    for outcome in (UNWRITTEN, UNWRITTEN, None, UNWRITTEN, UNWRITTEN):
        world.hosts.fails = outcome
        assert world.coordinator.checkpoint(world.hosts) is (outcome is None)
    with pytest.raises(CheckpointError, match="a slot cannot write"):
        world.coordinator.checkpoint(world.hosts)
    assert (world.hosts.aborted, world.hosts.completed) == ([1, 2, 4, 5, 6], [3])
    assert sorted(os.listdir(tmp_path / "j")) == ["chk-3", "shared"]


def test_by_default_none_is_tolerated(tmp_path):
    world = World(tmp_path, tolerable_failed_checkpoints="0")
    world.hosts.fails = UNWRITTEN
    with pytest.raises(CheckpointError):
        world.coordinator.checkpoint(world.hosts)


def test_a_function_that_fails_is_never_tolerated(world):
    world.hosts.fails = SubtaskFailure("snapshot_state failed")
    with pytest.raises(SubtaskFailure):
        world.coordinator.checkpoint(world.hosts)
    assert world.hosts.aborted == [1]


def test_the_last_checkpoint_is_made_again_as_long_as_that_is_tolerated(world):
    world.hosts.fails = UNWRITTEN
    assert not world.coordinator.finish(world.hosts)
    world.hosts.fails = None
    assert world.coordinator.finish(world.hosts)
    assert (world.hosts.aborted, world.hosts.completed) == ([1], [2])


@pytest.fixture
def full_disk():
    """Each file of this process may be empty, and no longer."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_disk_that_takes_only_empty_files_is_noticed_before_the_job_begins(tmp_path, full_disk):
    world = World(tmp_path)
    with pytest.raises(CheckpointError, match=r"cannot write checkpoints to .* File too large"):
        world.coordinator.probe()
    with pytest.raises(CheckpointError, match=r"cannot write a savepoint to .* File too large"):
        world.coordinator.savepoint_folder(tmp_path.as_uri())
    assert list(tmp_path.iterdir()) == []


def test_an_aborted_checkpoint_names_the_function_that_holds_it_up(tmp_path):
    world = World(tmp_path)
    world.hosts.fails = SlowCheckpoint("'store', subtask 0, is at 'x' in store (job.py:4)")
    world.coordinator._failures = 1_000
    with pytest.raises(CheckpointError, match=r"timeout\)\. Meanwhile 'store', subtask 0, is at"):
        world.coordinator.checkpoint(world.hosts)


def test_a_checkpoint_that_takes_too_long(tmp_path):
    world = World(tmp_path, timeout="3 s")
    world.hosts.fails = TimeoutError("a host has not answered")
    assert not world.coordinator.checkpoint(world.hosts)
    assert world.hosts.timeout == 3.0
    late = tmp_path / "j" / "chk-1"
    assert not late.exists()
    late.mkdir()  # the host is slow, and does not know that nobody waits for it
    (late / "slot-0").touch()
    world.hosts.fails = None
    world.checkpoint()
    assert not late.exists()
    world.hosts.fails = TimeoutError("a host has not answered")
    world.coordinator.checkpoint(world.hosts)
    with pytest.raises(CheckpointError, match=r"checkpoint 4 was aborted after 3000 ms"):
        world.coordinator.checkpoint(world.hosts)


def test_a_slow_disk_is_named_in_the_log(tmp_path, monkeypatch):
    named, write = threading.Event(), Folder.write

    class Notes(logging.Handler):
        def emit(self, record):
            if f"waits for the files of file:{tmp_path}" in record.getMessage():
                named.set()

    def slow(*args, **kwargs):
        assert named.wait(60)
        return write(*args, **kwargs)

    world, notes = World(tmp_path), Notes()
    monkeypatch.setattr("pyflink_on_spark._job.checkpoints.commits._TELL_SECONDS", 0.001)
    monkeypatch.setattr(Folder, "write", slow)
    log = logging.getLogger("pyflink_on_spark")
    log.addHandler(notes)
    try:
        world.checkpoint()
    finally:
        log.removeHandler(notes)
    world.is_saved()


@pytest.mark.parametrize("stop", [False, True])
def test_a_savepoint_that_fails_leaves_nothing(world, stop):
    world.hosts.fails = UNWRITTEN
    with pytest.raises(CheckpointError):
        world.savepoint(stop=stop)
    assert os.listdir(world.path / "savepoints") == []
    assert world.hosts.aborted == [1]
    assert world.coordinator.restore is None
    assert not world.coordinator.over
    world.hosts.fails = None
    world.checkpoint()
    world.is_saved()


def times_of_checkpoints(world, took):
    """When (s) a job that can every 100 ms makes checkpoints that take some time (ms)."""
    found = []
    world.hosts.writing = lambda: setattr(world.clock, "time", world.clock.time + took)
    for _ in range(100):
        world.clock.time += 100
        if world.coordinator.due:
            found.append(world.clock.time / 1000)
            world.checkpoint()
    return found


@pytest.mark.parametrize(
    ("settings", "took", "expected"),
    [
        ({"interval": "2 s"}, 0, [2, 4, 6, 8, 10]),
        ({"interval": "2 s"}, 500, [2, 4, 6, 8, 10]),
        ({"interval": "2 s", "min_pause": "3 s"}, 0, [3, 6, 9]),
        ({"interval": "2 s", "min_pause": "1800 ms"}, 500, [2, 4.3, 6.6]),
    ],
)
def test_interval_and_pause(tmp_path, settings, took, expected):
    world = World(tmp_path, **settings)
    assert times_of_checkpoints(world, took)[: len(expected)] == expected


@pytest.mark.parametrize(
    ("retention", "kept"),
    [
        ("NO_EXTERNALIZED_CHECKPOINTS", set()),
        ("DELETE_ON_CANCELLATION", {"job_failed"}),
        ("RETAIN_ON_CANCELLATION", {"job_failed", "job_cancelled"}),
    ],
)
@pytest.mark.parametrize("end", ["job_finished", "job_failed", "job_cancelled"])
def test_what_stays_when_a_job_ends(tmp_path, retention, kept, end):
    world = World(tmp_path, externalized_checkpoint_retention=retention)
    world.hosts.update("x", 1)
    world.checkpoint()
    getattr(world.coordinator, end)()
    assert (tmp_path / "j").exists() is (end in kept)
    if end in kept:
        world.is_saved()


def test_what_is_left_of_a_job_is_known(tmp_path):
    world = World(tmp_path, externalized_checkpoint_retention="DELETE_ON_CANCELLATION")
    assert not world.coordinator.resumable
    world.checkpoint()
    world.coordinator.job_failed()
    assert world.coordinator.resumable
    world.coordinator.job_cancelled()
    assert not world.coordinator.resumable
    world.savepoint()
    world.coordinator.job_finished()
    assert world.coordinator.resumable


def test_whether_a_savepoint_can_be_written_is_known_before(world):
    in_the_way = world.path / "in the way"
    in_the_way.touch()
    with pytest.raises(CheckpointError, match=r"cannot write .*in the way"):
        world.coordinator.savepoint_folder(str(in_the_way))
    with pytest.raises(CheckpointError, match="a savepoint needs a directory"):
        world.coordinator.savepoint_folder(None)
    world.coordinator.savepoint_folder(str(world.path / "savepoints"))
    assert os.listdir(world.path / "savepoints") == []
    assert world.hosts.aborted == []


def test_checkpoints_where_nothing_can_be_written_until_it_is_put_right(world):
    (world.path / "j").touch()
    assert not world.coordinator.checkpoint(world.hosts)
    assert world.coordinator.restore is None
    (world.path / "j").unlink()
    world.checkpoint()
    world.is_saved()


class NeverTwice(Sink):
    """Commits what has not been committed; once, it is interrupted. Holds back if asked to."""

    def __init__(self, interrupted=True, holds_back=False):
        self.found, self.interrupted, self.holds_back = [], interrupted, holds_back

    def writer(self, context):
        raise NotImplementedError

    def hold_back(self, committables, checkpoint_id):
        return ([], committables) if self.holds_back else (committables, [])

    def commit(self, committables):
        for thing in committables:
            if thing not in self.found:
                self.found.append(thing)
            if self.interrupted:
                self.interrupted = False
                raise OSError("no space left")


def with_sink(path, sink, **more):
    operator = OperatorPlan(1, "sink", SinkOperator(sink, 1), "sink", state_id="sink")
    where = {} if path is None else {"execution.checkpointing.dir": path.as_uri()}
    settings = CheckpointSettings.of({**where, **more})
    return CheckpointCoordinator(settings, "j", "job", [operator], {1: sink}, FakeClock())


class Prepares(Hosts):
    """Slots whose sinks have prepared something; it is theirs until a checkpoint is complete."""

    def __init__(self):
        super().__init__()
        self.prepared = {0: [], 1: []}

    def notify_checkpoint_complete(self, number):
        self.prepared = {0: [], 1: []}
        super().notify_checkpoint_complete(number)

    def committables(self):
        return [thing for prepared in self.prepared.values() for thing in prepared]

    def snapshot(self, number, where, contents=WHOLE, *, halt=False, timeout=None):
        for slot, prepared in self.prepared.items():
            prepared.append((1, f"{number}-{slot}"))
        if where is None:
            nothing = SlotState().to_bytes()
            return {slot: HostSnapshot(nothing, list(p)) for slot, p in self.prepared.items()}
        answers = super().snapshot(number, where, contents, halt=halt, timeout=timeout)
        return {s: HostSnapshot(a.state, list(self.prepared[s])) for s, a in answers.items()}


def test_a_commit_that_is_interrupted_is_made_whole_by_the_next_attempt(tmp_path):
    sink = NeverTwice()
    coordinator, hosts = with_sink(tmp_path, sink), Prepares()
    with pytest.raises(OSError, match="no space left"):
        coordinator.checkpoint(hosts)
    assert sink.found == ["1-0"]
    coordinator.attempt_begins()
    assert sink.found == ["1-0", "1-1"]
    coordinator.checkpoint(hosts)
    assert sink.found == ["1-0", "1-1", "2-0", "2-1"]


def test_and_by_a_job_that_begins_with_the_checkpoint(tmp_path):
    sink = NeverTwice()
    with pytest.raises(OSError, match="no space left"):
        with_sink(tmp_path, sink).checkpoint(Prepares())
    more = {
        "execution.state-recovery.path": str(tmp_path / "j" / "chk-1"),
        "execution.state-recovery.ignore-unclaimed-state": "true",
    }
    coordinator = with_sink(tmp_path, sink, **more)
    coordinator.restore_given()
    coordinator.attempt_begins()
    assert sink.found == ["1-0", "1-1"]


class Stalls(NeverTwice):
    """Does not commit before it is released."""

    def __init__(self):
        super().__init__(interrupted=False)
        self.released = threading.Event()

    def commit(self, committables):
        self.released.wait()
        super().commit(committables)


@pytest.mark.parametrize("retention", ["NO_EXTERNALIZED_CHECKPOINTS", "RETAIN_ON_CANCELLATION"])
def test_a_commit_that_takes_too_long_ends_the_job_and_its_checkpoint_stays(tmp_path, retention):
    sink, hosts = Stalls(), Prepares()
    limit = {
        "pyflink-on-spark.commit-timeout": "10 ms",
        "execution.checkpointing.externalized-checkpoint-retention": retention,
    }
    stalled = with_sink(tmp_path, sink, **limit)
    with pytest.raises(CommitTimeoutError, match="the sink Stalls to commit checkpoint 1"):
        stalled.checkpoint(hosts)
    assert stalled.over
    stalled.abort((1, thing) for _, thing in hosts.committables())
    stalled.job_failed()
    later = NeverTwice(interrupted=False)
    begun_with(tmp_path, later, str(tmp_path / "j" / "chk-1"))
    assert later.found == ["1-0", "1-1"]
    sink.released.set()


@pytest.mark.parametrize("interval", [None, "1 s"])
def test_the_last_commit_has_the_limit_too(tmp_path, interval):
    sink = Stalls()
    more = {} if interval is None else {"execution.checkpointing.interval": interval}
    stalled = with_sink(tmp_path, sink, **{"pyflink-on-spark.commit-timeout": "10 ms"}, **more)
    with pytest.raises(CommitTimeoutError, match="to commit checkpoint 1"):
        stalled.finish(Prepares())
    assert stalled.over
    sink.released.set()


def test_nothing_of_the_checkpoint_to_begin_with_gets_lost_without_a_word(tmp_path):
    sink = NeverTwice()
    sink.interrupted = False
    operator = OperatorPlan(1, "sink", SinkOperator(sink, 1), "sink", state_id="sink")
    others = [OperatorPlan(0, "op", Operator(), "op", MAXIMUM, state_id="op")]
    with_sink(tmp_path, sink).checkpoint(Prepares())
    settings = CheckpointSettings.of(
        {"execution.state-recovery.path": str(tmp_path / "j" / "chk-1")}
    )

    def begins(operators, sinks, sources):
        CheckpointCoordinator(
            settings, "j", "job", operators, sinks, FakeClock(), sources
        ).restore_given()

    begins([operator, *others], {1: sink}, {"src"})
    for job, lost in (
        (([operator], {1: sink}, {"src"}), "the operator 'op'"),
        (([operator, *others], {1: sink}, {"1:src"}), "the source 'src'"),
        ((others, {}, {"src"}), "the sink 'sink'"),
    ):
        with pytest.raises(CheckpointError, match=lost):
            begins(*job)


def test_it_knows_how_many_key_groups_the_checkpoint_has(tmp_path):
    sink = NeverTwice()
    sink.interrupted = False
    with_sink(tmp_path, sink).checkpoint(Prepares())
    settings = CheckpointSettings.of(
        {"execution.state-recovery.path": str(tmp_path / "j" / "chk-1")}
    )

    def begun(**settings_of_op):
        operators = [
            OperatorPlan(1, "sink", SinkOperator(sink, 1), "sink", state_id="sink"),
            OperatorPlan(0, "op", Operator(), "op", 2 * MAXIMUM, state_id="op", **settings_of_op),
        ]
        coordinator = CheckpointCoordinator(
            settings, "j", "job", operators, {1: sink}, FakeClock(), {"src"}
        )
        coordinator.restore_given()
        return coordinator

    assert begun().key_groups["op"] == MAXIMUM
    with pytest.raises(CheckpointError, match="was written with a max parallelism"):
        begun(max_parallelism_set=True)


def saved(coordinator, hosts, path, **how):
    """The path of a savepoint."""
    return coordinator.savepoint(hosts, coordinator.savepoint_folder(str(path / "s")), **how)


def begun_with(path, sink, savepoint):
    """The coordinator of a job that has begun with a savepoint."""
    more = {
        "execution.state-recovery.path": savepoint,
        "execution.state-recovery.ignore-unclaimed-state": "true",
    }
    coordinator = with_sink(path, sink, **more)
    coordinator.restore_given()
    coordinator.attempt_begins()
    return coordinator


def test_a_savepoint_commits_nothing_while_the_job_goes_on(tmp_path):
    sink = NeverTwice(interrupted=False)
    coordinator, hosts = with_sink(tmp_path, sink), Prepares()
    coordinator.checkpoint(hosts)
    path = saved(coordinator, hosts, tmp_path)
    assert sink.found == ["1-0", "1-1"]
    coordinator.attempt_begins()
    assert sink.found == ["1-0", "1-1"]
    coordinator.checkpoint(hosts)
    assert sink.found == ["1-0", "1-1", "2-0", "3-0", "2-1", "3-1"]
    other = NeverTwice(interrupted=False)
    begun_with(tmp_path, other, path)
    assert other.found == ["2-0", "2-1"]


def test_a_savepoint_has_what_was_held_back_and_the_next_checkpoint_has_it_still(tmp_path):
    sink = NeverTwice(interrupted=False, holds_back=True)
    coordinator, hosts = with_sink(tmp_path, sink), Prepares()
    coordinator.checkpoint(hosts)
    path = saved(coordinator, hosts, tmp_path)
    sink.holds_back = False
    coordinator.checkpoint(hosts)
    assert sink.found == ["1-0", "1-1", "2-0", "3-0", "2-1", "3-1"]
    other = NeverTwice(interrupted=False, holds_back=True)
    begun_with(tmp_path, other, path)
    assert other.found == ["1-0", "1-1", "2-0", "2-1"]


@pytest.mark.parametrize("drained", [False, True])
def test_what_is_held_back_is_visible_only_if_the_input_is_over(tmp_path, drained):
    sink = NeverTwice(interrupted=False, holds_back=True)
    coordinator, hosts = with_sink(tmp_path, sink), Prepares()
    path = saved(coordinator, hosts, tmp_path, stop=True, drained=drained)
    assert sink.found == (["1-0", "1-1"] if drained else [])
    begun_with(tmp_path, sink, path)
    assert sink.found == ["1-0", "1-1"]


def test_a_job_whose_last_savepoint_is_not_committed_begins_with_it(tmp_path):
    sink = NeverTwice(holds_back=True)
    coordinator, hosts = with_sink(tmp_path, sink), Prepares()
    with pytest.raises(OSError, match="no space left"):
        saved(coordinator, hosts, tmp_path, stop=True, drained=True)
    assert (coordinator.restore[0], coordinator.over) == (1, False)
    coordinator.attempt_begins()
    assert sink.found == ["1-0", "1-1"]


def test_a_last_commit_that_is_interrupted_is_made_whole(tmp_path):
    sink = NeverTwice(holds_back=True)
    settings = {"execution.checkpointing.interval": "1 s"}
    coordinator, hosts = with_sink(tmp_path, sink, **settings), Prepares()
    with pytest.raises(OSError, match="no space left"):
        coordinator.finish(hosts)
    assert not coordinator.over
    assert coordinator.restore[0] == 1  # from the beginning, all of it would be there twice
    coordinator.attempt_begins()
    assert sink.found == ["1-0", "1-1"]
    assert coordinator.finish(Prepares())
    assert sink.found == ["1-0", "1-1", "2-0", "2-1"]
    assert coordinator.over


def test_without_checkpoints_nothing_follows_a_last_commit_that_is_interrupted(tmp_path):
    sink, hosts = NeverTwice(holds_back=True), Prepares()
    coordinator, hosts.prepared = with_sink(tmp_path, sink), {0: [(1, "a"), (1, "b")], 1: []}
    with pytest.raises(OSError, match="no space left"):
        coordinator.finish(hosts)
    assert sink.found == ["a"]
    assert coordinator.over  # from the beginning, what is visible would come twice
    assert coordinator.restore is None


def test_a_job_is_over_once_all_is_committed_whoever_fails_to_hear_of_it(world):
    def fail(number):
        raise SubtaskFailure("notify_checkpoint_complete failed")

    world.hosts.notify_checkpoint_complete = fail
    with pytest.raises(SubtaskFailure):
        world.coordinator.checkpoint(world.hosts)
    assert not world.coordinator.over
    with pytest.raises(SubtaskFailure):
        world.coordinator.finish(world.hosts)
    assert world.coordinator.over


def test_sinks_keep_what_a_savepoint_of_a_job_that_goes_on_names(world, monkeypatch):
    kept = []
    monkeypatch.setattr(world.coordinator._commits, "keep", kept.append)
    world.savepoint()
    assert kept == [[]]
    world.checkpoint()
    world.savepoint(stop=True)
    assert kept == [[]]


class Writing(Prepares):
    """Hosts whose writers continue something after a checkpoint."""

    def snapshot(self, number, where, contents=WHOLE, *, halt=False, timeout=None):
        answers = {}
        for slot in (0, 1):
            continued = OperatorSnapshot(split={"_writer": [f"continued in {slot}"]})
            state = TaskStateSnapshot(
                number, {"sink": OperatorSubtaskState({}, continued, MAXIMUM)}
            )
            name = file_name(contents, number, slot)
            file = write_file(folder(where), name, records_of(slot, state), shared=False)
            answers[slot] = HostSnapshot(file, [(1, f"{number}-{slot}")])
        return answers


class Keeping(NeverTwice):
    """A sink that is asked to keep things."""

    def __init__(self, keeps_snapshots):
        super().__init__()
        self.keeps_snapshots, self.kept = keeps_snapshots, []

    def keep(self, committables):
        self.kept.append(committables)


@pytest.mark.parametrize("wanted", [False, True])
def test_a_sink_that_wants_to_keeps_what_a_savepoint_has_of_its_writers(tmp_path, wanted):
    sink = Keeping(wanted)
    path = saved(with_sink(tmp_path, sink), Writing(), tmp_path)
    in_writers = ["continued in 0", "continued in 1"] if wanted else []
    assert sink.kept == [["1-0", "1-1", *in_writers]]
    assert read_metadata(find_checkpoint(path)).checkpoint_id == 1


def test_a_folder_for_checkpoints_is_probed_and_left_as_it_was(tmp_path):
    with_sink(tmp_path / "new", NeverTwice(), **{"execution.checkpointing.interval": "1 s"}).probe()
    assert list((tmp_path / "new").iterdir()) == []


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EMFILE])
def test_a_folder_that_cannot_be_written_is_refused_before_the_job_begins(
    tmp_path, monkeypatch, code
):
    def fail(*_):
        raise OSError(code, os.strerror(code))

    job = with_sink(tmp_path, NeverTwice(), **{"execution.checkpointing.interval": "1 s"})
    monkeypatch.setattr(Folder, "write", fail)
    with pytest.raises(CheckpointError, match=os.strerror(code)) as refused:
        job.probe()
    assert "execution.checkpointing.dir" in str(refused.value)


def test_a_file_in_place_of_the_folder_of_checkpoints(tmp_path):
    (tmp_path / "file").write_text("")
    job = with_sink(tmp_path / "file", NeverTwice(), **{"execution.checkpointing.interval": "1 s"})
    with pytest.raises(CheckpointError, match="cannot write checkpoints to"):
        job.probe()


def test_a_job_without_checkpoints_needs_no_folder(tmp_path):
    (tmp_path / "file").write_text("")
    with_sink(tmp_path / "file", NeverTwice()).probe()
