"""Sources that are a function in a thread: order, back pressure, snapshots, failures."""

from __future__ import annotations

import pickle
import threading
import traceback

import pytest

from pyflink_on_spark._connectors.functions import (
    CAPACITY,
    LIMIT,
    CheckpointLock,
    EventQueue,
    FunctionPosition,
    FunctionSource,
    share_of,
)
from pyflink_on_spark._runtime.contract.operator import OperatorContext, RuntimeContext, TaskInfo
from pyflink_on_spark._runtime.elements.bundle import Bundle, ChannelStatus, Cursor, Watermark
from pyflink_on_spark._runtime.state.operator_state import OperatorSnapshot
from pyflink_on_spark._runtime.user_code import UserFunction
from tests.runtime.harness import FakeClock

# What a function in a thread and its test tell each other. The function itself is a copy, so that
# it cannot hold them.
WORLD: dict[str, object] = {}


def reader_of(function, restored=None, subtask=0, parallelism=1, checkpoint=None, batch=False):
    task = TaskInfo("source", subtask, parallelism, batch=batch)
    context = OperatorContext(
        task=task,
        cursor=Cursor(),
        clock=FakeClock(),
        side_output=lambda tag, value: None,
        driver=lambda channel: lambda things: None,
        keyed_state=None,
        runtime_context=RuntimeContext(task, None),
        restored=checkpoint,
    )
    source = FunctionSource(UserFunction.of(function), bounded=True, parallel=parallelism > 1)
    return source.reader(source.splits(parallelism)[subtask:], restored, context)


def drain(reader, until=None):
    """Poll to the end, or until there are so many elements; return elements and events."""
    seen = []
    while not reader.ended and (until is None or len(seen) < until):
        event = reader.poll()
        if isinstance(event, Bundle):
            seen += event.values
        elif event is not None:
            seen.append(event)
    return seen


def snapshot(reader, checkpoint=1):
    reader.prepare_checkpoint(checkpoint)
    return pickle.loads(pickle.dumps(reader.snapshot()))


class Counter:
    """Counts, under the lock, and keeps how far it is."""

    _checkpoint_protocol = "list"
    _listens_to_checkpoints = True

    def __init__(self, end):
        self.end = end
        self.offset = 0
        self.running = True

    def open(self, runtime_context):
        WORLD.setdefault("calls", []).append("open")

    def run(self, ctx):
        while self.running and self.offset < self.end:
            with ctx.get_checkpoint_lock():
                ctx.collect(self.offset)
                self.offset += 1

    def cancel(self):
        WORLD["calls"].append("cancel")
        self.running = False

    def close(self):
        WORLD["calls"].append("close")

    def snapshot_state(self, checkpoint_id, timestamp):
        return [self.offset]

    def restore_state(self, state):
        for offset in state:
            self.offset = offset

    def notify_checkpoint_complete(self, checkpoint_id):
        WORLD["calls"].append(f"complete {checkpoint_id}")

    def notify_checkpoint_aborted(self, checkpoint_id):
        WORLD["calls"].append(f"aborted {checkpoint_id}")


@pytest.fixture(autouse=True)
def world():
    WORLD.clear()
    WORLD["calls"] = []
    return WORLD


def test_everything_comes_in_order():
    reader = reader_of(Counter(20_000))
    assert drain(reader) == list(range(20_000))
    reader.close()
    assert WORLD["calls"] == ["open", "close"]


@pytest.mark.parametrize("cut", [1, 5_000, 19_999])
def test_restored_it_goes_on_where_it_was(cut):
    reader = reader_of(Counter(20_000))
    seen = drain(reader, until=cut)
    positions = snapshot(reader)
    reader.notify_checkpoint_complete(1)
    reader.notify_checkpoint_aborted(2)
    drain(reader, until=100)  # lost with the failure
    reader.close()
    again = reader_of(Counter(20_000), positions, checkpoint=1)
    assert seen + drain(again) == list(range(20_000))
    again.close()
    assert {"complete 1", "aborted 2"} <= set(WORLD["calls"])


def test_many_snapshots_while_it_runs():
    reader = reader_of(Counter(50_000))
    seen = []
    for checkpoint in range(1, 10):
        seen += drain(reader, until=2_000)
        positions = snapshot(reader, checkpoint)
        if checkpoint % 3 == 0:
            reader.close()
            reader = reader_of(Counter(50_000), positions, checkpoint=checkpoint)
    assert seen + drain(reader) == list(range(50_000))
    reader.close()


class ByPartition(Counter):
    """Keeps its offsets in an object that it changes all the time."""

    def __init__(self, end):
        super().__init__(end)
        self.offsets = {}

    def run(self, ctx):
        while self.running and self.offset < self.end:
            with ctx.get_checkpoint_lock():
                ctx.collect(self.offset)
                self.offsets[self.offset % 10] = self.offset = self.offset + 1

    def snapshot_state(self, checkpoint_id, timestamp):
        return [self.offsets]

    def restore_state(self, state):
        for offsets in state:
            self.offsets, self.offset = offsets, max(offsets.values(), default=0)


def test_state_that_goes_on_changing_is_saved_as_it_was():
    reader = reader_of(ByPartition(1_000_000))
    seen = drain(reader, until=1)
    reader.prepare_checkpoint(1)
    later = drain(reader, until=3 * LIMIT)  # the function continues before it is pickled
    positions = pickle.loads(pickle.dumps(reader.snapshot()))
    reader.close()
    emitted = len(seen) + len(positions[0].waiting)
    assert max(positions[0].state.split["_list_checkpointed"][0].values()) == emitted
    again = reader_of(ByPartition(emitted + 100), positions, checkpoint=1)
    rest = drain(again)
    again.close()
    assert seen + rest == list(range(emitted + 100))
    assert rest[: len(later)] == later[: len(rest)]


class Watched:
    """Notes whether the thread that pickles it has the checkpoint lock."""

    def __reduce__(self):
        WORLD["held"].append(WORLD["lock"]._owner == threading.get_ident())
        return Watched, ()


class KeepsWatched(Counter):
    def snapshot_state(self, checkpoint_id, timestamp):
        return [Watched()]


def test_no_function_runs_while_its_state_is_pickled():
    reader = reader_of(KeepsWatched(10))
    WORLD["lock"], WORLD["held"] = reader._lock, []
    snapshot(reader)
    reader.close()
    assert WORLD["held"] == [True]


def test_what_has_returned_does_not_run_again():
    reader = reader_of(Plain([1, 2, 3]))
    reader.poll()
    while reader._thread.is_alive():
        pass
    waiting = snapshot(reader)
    drain(reader)
    ended = snapshot(reader)
    assert ended == [FunctionPosition(0, returned=True)]
    assert reader_of(Plain([1, 2, 3]), ended, checkpoint=1).ended
    again = reader_of(Plain([1, 2, 3]), waiting, checkpoint=1)
    assert drain(again) == [item[0] for item in waiting[0].waiting]


class Plain:
    """Emits some things: elements, pairs of element and timestamp, watermarks, idleness."""

    def __init__(self, things):
        self.things = things

    def run(self, ctx):
        for thing in self.things:
            if isinstance(thing, Watermark):
                ctx.emit_watermark(thing.timestamp)
            elif thing == "idle":
                ctx.mark_as_temporarily_idle()
            elif isinstance(thing, tuple):
                ctx.collect_with_timestamp(*thing)
            else:
                ctx.collect(thing)

    def cancel(self):
        pass


class Eager(Plain):
    def run(self, ctx):
        WORLD["emitted"] = 0
        while True:
            ctx.collect(1)
            WORLD["emitted"] += 1


class Greedy(Plain):
    def run(self, ctx):
        with ctx.get_checkpoint_lock():
            for number in range(LIMIT + 1000):
                ctx.collect(number)
        WORLD["free"].wait()


class Deaf(Plain):
    def run(self, ctx):
        while True:
            try:
                ctx.collect(1)
            except Exception:  # noqa: BLE001
                WORLD["calls"].append("swallowed")


def events(reader):
    found = []
    while not reader.ended:
        event = reader.poll()
        if event is not None:
            found.append(event)
    return found


def test_timestamps_watermarks_and_idleness_keep_their_place():
    things = [("a", 5), "b", Watermark(5), "idle", "idle", ("c", 7), Watermark(9)]
    merged = []
    for event in events(reader_of(Plain(things))):
        if isinstance(event, Bundle):
            stamps = event.timestamps or [None] * len(event.values)
            merged += zip(event.values, stamps, strict=True)
        else:
            merged.append(event)
    assert merged == [
        ("a", 5),
        ("b", None),
        Watermark(5),
        ChannelStatus(True),
        ChannelStatus(False),
        ("c", 7),
        Watermark(9),
    ]


def test_without_timestamps_there_is_no_list_of_them():
    bundles = events(reader_of(Plain([1, 2, 3])))
    assert all(bundle.timestamps is None for bundle in bundles)


def test_batch_has_no_use_for_watermarks():
    found = events(reader_of(Plain([1, Watermark(5), "idle", 2]), batch=True))
    assert [value for bundle in found for value in bundle.values] == [1, 2]


def test_a_watermark_is_a_number():
    class Wrong(Plain):
        def run(self, ctx):
            ctx.emit_watermark("now")

    with pytest.raises(TypeError, match="a watermark is a time in ms, not 'now'"):
        drain(reader_of(Wrong([])))


def test_an_element_may_change_after_it_was_emitted():
    class Reusing(Plain):
        def run(self, ctx):
            element = []
            for thing in self.things:
                element.append(thing)
                ctx.collect(element)

    assert drain(reader_of(Reusing([1, 2]))) == [[1], [1, 2]]


def test_a_failure_comes_after_what_was_emitted_and_shows_the_users_line():
    class Failing(Plain):
        def run(self, ctx):
            super().run(ctx)
            raise ValueError("out of numbers")

    reader = reader_of(Failing([1, 2]))
    seen = []
    with pytest.raises(ValueError, match="out of numbers") as failure:  # noqa: PT012
        while True:
            event = reader.poll()
            seen += event.values if event else []
    assert seen == [1, 2]
    assert 'raise ValueError("out of numbers")' in "".join(
        traceback.format_exception(failure.value)
    )
    reader.close()


def test_back_pressure():

    reader = reader_of(Eager([]))
    bundle = None
    while bundle is None:
        bundle = reader.poll()
    while not reader._queue._senders_waiting:
        pass
    emitted = WORLD["emitted"]
    assert emitted <= CAPACITY + len(bundle.values)
    reader.poll()
    while WORLD["emitted"] == emitted:
        pass
    reader.close()
    assert not reader._thread.is_alive()


def test_a_function_that_holds_the_lock_waits_too_and_lets_snapshots_through():

    WORLD["free"] = threading.Event()
    reader = reader_of(Greedy([]))
    first = None
    while first is None:
        first = reader.poll()
    while not reader._queue._senders_waiting:
        pass
    positions = snapshot(reader)
    assert first.values + [value for value, _ in positions[0].waiting] == list(range(LIMIT + 1000))
    WORLD["free"].set()
    reader.close()


def test_cancel_stops_a_function_that_does_not_listen():

    reader = reader_of(Deaf([]))
    reader.poll()
    reader.close()
    assert not reader._thread.is_alive()
    assert WORLD["calls"] == []


def test_an_exit_ends_the_function_only():
    class Exiting(Plain):
        def run(self, ctx):
            raise SystemExit(3)

    with pytest.raises(RuntimeError, match=r"run\(\) ended with SystemExit\(3\)"):
        drain(reader_of(Exiting([])))


def test_several_threads_may_emit():
    class Many(Plain):
        def run(self, ctx):
            def emit(numbers):
                for number in numbers:
                    ctx.collect(number)

            threads = [
                threading.Thread(target=emit, args=(range(start, 40_000, 4),)) for start in range(4)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

    reader = reader_of(Many([]))
    assert sorted(drain(reader)) == list(range(40_000))
    reader.close()


def test_the_lock_is_its_owners():
    class Confused(Plain):
        def run(self, ctx):
            lock = ctx.get_checkpoint_lock()
            with lock, lock:
                ctx.collect("inside")
            lock.release()

    reader = reader_of(Confused([]))
    with pytest.raises(RuntimeError, match="not held by this thread"):
        drain(reader)


class Hooked(Counter):
    """Takes the lock, and emits, wherever it is called."""

    def run(self, ctx):
        self.ctx = ctx
        super().run(ctx)
        WORLD["piled up"].set()
        WORLD["free"].wait()

    def said(self, what):
        lock = self.ctx.get_checkpoint_lock()
        with lock, lock:
            self.ctx.collect(what)

    def snapshot_state(self, checkpoint_id, timestamp):
        self.said("snapshot")
        return super().snapshot_state(checkpoint_id, timestamp)

    def notify_checkpoint_complete(self, checkpoint_id):
        self.said("complete")

    def notify_checkpoint_aborted(self, checkpoint_id):
        self.said("aborted")


@pytest.mark.parametrize("count", [10, CAPACITY - 1])
def test_in_its_hooks_a_function_may_take_the_lock_and_emit(count):
    WORLD["free"], WORLD["piled up"] = threading.Event(), threading.Event()
    reader = reader_of(Hooked(count))
    first = None
    while first is None:
        first = reader.poll()
    WORLD["piled up"].wait()

    def hooks():
        reader.prepare_checkpoint(1)
        reader.notify_checkpoint_complete(1)
        reader.notify_checkpoint_aborted(2)

    # In a thread, so that a deadlock is a failure.
    thread = threading.Thread(target=hooks, daemon=True)
    thread.start()
    thread.join(10)
    assert not thread.is_alive()
    (saved,) = pickle.loads(pickle.dumps(reader.snapshot()))
    said = ["snapshot", "complete", "aborted"]
    expected = [*range(count), *said]
    assert first.values + [value for value, _ in saved.waiting] == expected[:-2]
    assert first.values + drain(reader, until=count + 3 - len(first.values)) == expected
    WORLD["free"].set()
    reader.close()


def test_in_a_snapshot_nobody_waits_for_room():
    queue = EventQueue()
    lock = CheckpointLock(queue)
    queue.preload([(0, None)] * LIMIT)

    def snapshot_that_emits():
        with lock.for_snapshot():
            for number in range(3):
                with lock:
                    queue.put((number, None))

    thread = threading.Thread(target=snapshot_that_emits, daemon=True)
    thread.start()
    thread.join(10)
    assert not thread.is_alive()
    assert len(queue.waiting()) == LIMIT + 3


def position(subtask, returned=False, waiting=(), **state):
    return FunctionPosition(subtask, returned, OperatorSnapshot(split=state), list(waiting))


def test_shares_of_the_same_parallelism():
    positions = [position(1, offsets=[5]), position(0, True, [("a", None), Watermark(3)])]
    assert share_of(positions, 0, 2) == position(0, True, [("a", None), Watermark(3)])
    assert share_of(positions, 1, 2) == position(1, offsets=[5])


def test_shares_of_another_parallelism():
    positions = [
        position(0, False, [("a", None), Watermark(3)], offsets=[1, 2]),
        position(1, False, [("b", 7)], offsets=[3]),
        position(2, True),
    ]
    assert share_of(positions, 0, 2) == position(0, False, [("a", None)], offsets=[1, 2])
    assert share_of(positions, 1, 2) == position(1, False, [("b", 7)], offsets=[3])
    assert share_of([position(0, True)], 1, 2).returned
