"""Runs operators step by step: a test pushes elements and sets a clock, and reads the output."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from pyflink_on_spark._graph.stream_graph import Aligned
from pyflink_on_spark._job.job import Job, install_engine, installed_engine
from pyflink_on_spark._runtime.checkpoints.checkpoint import Restore
from pyflink_on_spark._runtime.checkpoints.slot_state import SlotState, stateful_operators
from pyflink_on_spark._runtime.contract.connector import Source, SourceReader
from pyflink_on_spark._runtime.contract.operator import Operator, OperatorContext
from pyflink_on_spark._runtime.diagnosis import SubtaskFailure
from pyflink_on_spark._runtime.elements.bundle import (
    Bundle,
    ChannelStatus,
    Cursor,
    Watermark,
    noting,
)
from pyflink_on_spark._runtime.elements.immutability import deserialize, serialize, unwrap_key
from pyflink_on_spark._runtime.elements.time import WatermarkValve
from pyflink_on_spark._runtime.state.snapshot import KeyGroupState
from pyflink_on_spark._runtime.task.subtask import Subtask
from pyflink_on_spark._runtime.task.subtask_builder import SubtaskBuilder
from pyflink_on_spark._runtime.types.converters import boundary_converter, source_converter
from pyflink_on_spark.common import Configuration
from pyflink_on_spark.common.job_execution_result import JobOutcome
from pyflink_on_spark.common.typeinfo import TypeInformation, Types
from pyflink_on_spark.datastream import (
    DataStream,
    KeyedStream,
    OutputTag,
    StreamExecutionEnvironment,
)
from pyflink_on_spark.testing.local_engine import LocalHosts, SameProcess, with_state

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import SendItems


MAIN_CHANNEL = "main output"
SIDE_CHANNEL = "side outputs"


@dataclass(frozen=True)
class Record:
    """An element that came out.

    Args:
        value: the element.
        timestamp: its event timestamp in ms, or None.
    """

    value: Any
    timestamp: int | None = None


class SideRecord(NamedTuple):
    """An element, pickled, that went to a side output."""

    tag_id: str
    value: bytes
    timestamp: int | None


class CaptureOperator(Operator):
    """The last operator: tells the test of elements and watermarks."""

    def open(self, context: OperatorContext) -> None:
        """Get ready."""
        self._cursor: Cursor = context.cursor
        self._subtask = context.task.subtask_index
        self._send: SendItems = context.driver(MAIN_CHANNEL)

    def process(self, elements: Iterator[object]) -> Iterator[object]:
        """Send all elements; nothing comes out."""
        timestamps: list[int | None] = []
        values = map(serialize, noting(elements, self._cursor, timestamps))
        for value in values:
            self._send([(value, timestamps.pop())])
        return iter(())

    def advance_watermark(self, watermark: int) -> Iterable[object]:
        """Send the watermark."""
        self._send([(self._subtask, Watermark(watermark))])
        return ()


class Outputs:
    """Collects the output of all subtasks.

    Args:
        parallelism: how many subtasks tell of watermarks.
    """

    def __init__(self, parallelism: int) -> None:
        self.main: list[Record | Watermark] = []
        self.side: dict[str, list[Record]] = {}
        self._valve = WatermarkValve(range(parallelism))

    def take_main(self, things: list[Any]) -> None:
        """Take elements with their timestamps, and watermarks of single subtasks."""
        for thing, more in things:
            if not isinstance(more, Watermark):
                self.main.append(Record(deserialize(thing), more))
                continue
            combined = self._valve.watermark(thing, more.timestamp)
            if combined is not None:
                self.main.append(Watermark(combined))

    def take_side(self, records: list[SideRecord]) -> None:
        """Take elements of side outputs."""
        for record in records:
            values = self.side.setdefault(record.tag_id, [])
            values.append(Record(deserialize(record.value), record.timestamp))

    def clear(self) -> None:
        """Forget the output so far."""
        self.main.clear()
        self.side.clear()


class _ObservedBuilder(SubtaskBuilder):
    def _context(self, *args: Any) -> OperatorContext:
        context = super()._context(*args)
        emit, tell, cursor = context.side_output, context.driver(SIDE_CHANNEL), context.cursor

        def side_output(tag_id: str, value: object) -> None:
            tell([SideRecord(tag_id, serialize(value), cursor.timestamp)])
            emit(tag_id, value)

        context.side_output = side_output
        return context


class ObservedSubtask(Subtask):
    """A subtask that sends what goes to side outputs to the test."""

    builder = _ObservedBuilder


def harness_job(
    define: Callable[..., DataStream],
    feeds: Sequence[Feed],
    input_types: Sequence[TypeInformation | None],
    parallelism: int,
    max_parallelism: int,
    configuration: Configuration | None,
) -> Job:
    """Translate the operators under test.

    Args:
        define: makes a stream of the input streams.
        feeds: what the inputs read.
        input_types: the type of each input; None for untyped.
        parallelism: of all operators that set none of their own.
        max_parallelism: the number of key groups.
        configuration: the environment's.
    """
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(parallelism)
    env.set_max_parallelism(max_parallelism)
    inputs = [
        env._from_runtime_source(FeedSource(feed), f"input {number}", type_info)
        for number, (feed, type_info) in enumerate(zip(feeds, input_types, strict=True), 1)
    ]
    result = define(*inputs)
    if not isinstance(result, DataStream):
        raise TypeError(f"the definition has to return a DataStream, not {result!r}")
    plain = result._values() if isinstance(result, KeyedStream) else result
    untyped = Types.PICKLED_BYTE_ARRAY()
    plain._then("results", CaptureOperator(), untyped, python=False, aligned=Aligned.INPUT)
    return _translated(env)


def _translated(env: StreamExecutionEnvironment) -> Job:
    recorder, before = _Recorder(), installed_engine()
    install_engine(recorder)
    try:
        env.execute("harness")
    finally:
        install_engine(before)
    return recorder.jobs[0]


class _Recorder:
    """An engine that keeps jobs, and runs none; each is its own handle."""

    job_id = ""

    def __init__(self) -> None:
        self.jobs: list[Job] = []

    def submit(self, job: Job) -> _Recorder:
        self.jobs.append(job)
        return self

    def collected(self) -> Iterator[Any]:
        return iter(())

    def result(self) -> JobOutcome:
        return JobOutcome(self.job_id, 0)


class StreamHarness:
    """Some operators under test, fed by hand.

    They run as in a job: they are pickled before they are opened, elements are pickled on their way
    in and out, declared types have their effect. What a user function raises comes out as it is.

        with StreamHarness(lambda s: s.key_by(lambda v: v[0]).process(MyFunction())) as harness:
            harness.push(("a", 1), timestamp=100)
            harness.push_watermark(200)
            assert harness.values() == [("a", 1)]

    Args:
        define: makes the stream under test of as many input streams as there are inputs.
        inputs: how many.
        input_types: the type of each input, if not untyped.
        parallelism: how many subtasks the operators have.
        max_parallelism: the number of key groups.
        clock: processing time; one that stands at 0 if not given.
        configuration: the environment's, for example with the runtime mode or job parameters.
        snapshot: what ``snapshot`` returned; restored when the harness is opened.

    Example:
        >>> with StreamHarness(lambda stream: stream.map(lambda value: value + 1)) as harness:
        ...     harness.push(1, timestamp=10)
        ...     harness.push_watermark(20)
        ...     harness.output()
        [Record(value=2, timestamp=10), Watermark(timestamp=20)]
    """

    def __init__(
        self,
        define: Callable[..., DataStream],
        inputs: int = 1,
        *,
        input_types: Sequence[TypeInformation | None] = (),
        parallelism: int = 1,
        max_parallelism: int = 128,
        clock: ManualClock | None = None,
        configuration: Configuration | None = None,
        snapshot: bytes | None = None,
    ) -> None:
        self._define, self._configuration = define, configuration
        self._types = list(input_types) + [None] * (inputs - len(input_types))
        self._parallelism, self._max_parallelism = parallelism, max_parallelism
        self.clock = clock or ManualClock()
        self._feeds = [Feed() for _ in range(inputs)]
        self._checkpoint_id = 0
        job = harness_job(
            define, self._feeds, self._types, parallelism, max_parallelism, configuration
        )
        self._job = with_state(job)
        last = self._job.stages[-1].vertices[-1]
        self._outputs = Outputs(last.parallelism)
        with _plain_errors():
            self._hosts = LocalHosts(
                self._job.stages,
                self._job.settings,
                self.clock,
                self._driver,
                restore=None if snapshot is None else self._restore(snapshot),
                subtask=ObservedSubtask,
            )
        self._opened = False

    def open(self) -> None:
        """Open the operators; a ``with`` statement does so, too."""
        self._opened = True
        with _plain_errors():
            self._hosts.group.open()

    def close(self) -> None:
        """Close the operators, as at the end of a job."""
        self._close(failed=False)

    def __enter__(self) -> Self:
        if not self._opened:
            self.open()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._close(failed=kind is not None)

    # -- what goes in ----------------------------------------------------------------------------

    def push(self, value: object, timestamp: int | None = None, *, into: int = 1) -> None:
        """Let an element come.

        Args:
            value: the element.
            timestamp: its event timestamp in ms, if it has one.
            into: the number of the input, from 1.
        """
        type_info = self._types[into - 1]
        if type_info is not None:
            value = source_converter(type_info)(value)
        self._feed(Bundle([deserialize(serialize(value))], [timestamp]), into)

    def push_watermark(self, watermark: int, *, into: int | None = None) -> None:
        """Advance event time.

        Args:
            watermark: in ms.
            into: the number of an input, from 1; all of them if not given.
        """
        for number in self._numbers(into):
            self._feed(Watermark(watermark), number)

    def set_processing_time(self, now: int) -> None:
        """Set the clock, and fire due timers.

        As in Flink, a timer for a time fires once the clock shows more than that.

        Args:
            now: in ms since the epoch.
        """
        self.clock.set(now)
        self._work()

    def advance_processing_time(self, milliseconds: int) -> None:
        """Move the clock, and fire due timers: see ``set_processing_time``."""
        self.set_processing_time(self.clock.now() + milliseconds)

    def end_input(self, *, into: int | None = None) -> None:
        """End an input; a watermark of 2**63 - 1 comes before its end.

        Args:
            into: its number, from 1; all of them if not given.
        """
        for number in self._numbers(into):
            self._feeds[number - 1].ended = True
            self._work()

    # -- what comes out --------------------------------------------------------------------------

    def output(self) -> list[Record | Watermark]:
        """Return all elements and watermarks so far, in their order."""
        return list(self._outputs.main)

    def records(self) -> list[Record]:
        """Return all elements so far, with their timestamps."""
        return [thing for thing in self._outputs.main if isinstance(thing, Record)]

    def values(self) -> list[Any]:
        """Return all elements so far."""
        return [record.value for record in self.records()]

    def watermarks(self) -> list[int]:
        """Return all watermarks so far, in ms."""
        return [thing.timestamp for thing in self._outputs.main if isinstance(thing, Watermark)]

    def side_records(self, tag: OutputTag) -> list[Record]:
        """Return all elements of a side output so far, with their timestamps."""
        found = self._outputs.side.get(tag.tag_id, [])
        convert = boundary_converter(tag.type_info)
        if convert is None:
            return list(found)
        values = convert(iter([record.value for record in found]))
        return [Record(value, record.timestamp) for value, record in zip(values, found)]

    def side_output(self, tag: OutputTag) -> list[Any]:
        """Return all elements of a side output so far."""
        return [record.value for record in self.side_records(tag)]

    def clear_output(self) -> None:
        """Forget the output so far."""
        self._outputs.clear()

    # -- state -----------------------------------------------------------------------------------

    def state_entries(self, name: str | None = None) -> int:
        """Return how many entries keyed state has: one for each key, and window, that has any.

        Args:
            name: of the state; all states if not given.
        """
        entries = (entry for group in self._key_groups() for entry in group.entries)
        return sum(1 for entry in entries if name in {None, entry[0]})

    def event_time_timers(self) -> list[tuple[int, Any]]:
        """Return the time (ms) and key of each timer that waits for a watermark, earliest first.

        Tumbling and sliding windows with the default trigger fire without timers.
        """
        return self._timers("event")

    def processing_time_timers(self) -> list[tuple[int, Any]]:
        """Return the time (ms) and key of each timer that waits for the clock, earliest first."""
        return self._timers("processing")

    def metrics(self) -> dict[str, Any]:
        """Return the values of the functions' metrics, as a job's accumulators have them."""
        if self._opened:
            for subtask in self._hosts.group:
                subtask.report_metrics()
        return self._job.accumulators.results()

    def snapshot(self) -> bytes:
        """Take a checkpoint: return all state, pickled."""
        self._require_open()
        self._checkpoint_id += 1
        with _plain_errors():
            answer = self._hosts.snapshot(self._checkpoint_id, None)
        return serialize((self._checkpoint_id, answer[0].state))

    def notify_checkpoint_complete(self) -> None:
        """Notify the operators that the latest snapshot is complete."""
        self._require_open()
        with _plain_errors():
            self._hosts.notify_checkpoint_complete(self._checkpoint_id)

    def restart(self, *, parallelism: int | None = None) -> StreamHarness:
        """Take a snapshot, close this harness, and return an opened one that restores the snapshot.

        What came out so far stays with this one.

        Args:
            parallelism: how many subtasks the operators have from now on; as before if not given.
        """
        snapshot = self.snapshot()
        self.close()
        harness = StreamHarness(
            self._define,
            len(self._feeds),
            input_types=self._types,
            parallelism=parallelism or self._parallelism,
            max_parallelism=self._max_parallelism,
            clock=self.clock,
            configuration=self._configuration,
            snapshot=snapshot,
        )
        harness._checkpoint_id = self._checkpoint_id
        harness.open()
        return harness

    def _close(self, failed: bool) -> None:
        if self._opened:
            self._opened = False
            with _plain_errors():
                self._hosts.group.close(failed)

    def _numbers(self, into: int | None) -> Sequence[int]:
        return range(1, len(self._feeds) + 1) if into is None else [into]

    def _feed(self, event: Bundle | Watermark, into: int) -> None:
        self._require_open()
        feed = self._feeds[into - 1]
        if feed.ended:
            raise RuntimeError(f"input {into} has ended")
        feed.waiting.append(event)
        self._work()

    def _work(self) -> None:
        self._require_open()
        with _plain_errors():
            while self._hosts.turn():
                pass
            for subtask in self._hosts.group:
                subtask.prepare_barrier()  # the results of asynchronous calls, too
            self._hosts.group.settle()

    def _require_open(self) -> None:
        if not self._opened:
            raise RuntimeError("the harness is not open: use it in a with statement")

    def _driver(self, channel: str) -> SendItems:
        if channel == MAIN_CHANNEL:
            return self._outputs.take_main
        if channel == SIDE_CHANNEL:
            return self._outputs.take_side
        return self._job.printers[channel]

    def _key_groups(self) -> Iterator[KeyGroupState]:
        self._require_open()
        for subtask in self._hosts.group:
            for keyed_state in subtask.keyed_states():
                yield from keyed_state.snapshot().values()

    def _restore(self, snapshot: bytes) -> Restore:
        """Return a snapshot as a job begins with it, once it is known that it fits."""
        checkpoint_id, content = deserialize(snapshot)
        before = stateful_operators(SlotState.from_bytes(content))
        for plan in self._job.operators():
            maximum = before.get(plan.state_id or "", plan.max_parallelism)
            if maximum != plan.max_parallelism:
                raise ValueError(
                    f"{plan.name}: the maximum parallelism cannot be changed from {maximum} to "
                    f"{plan.max_parallelism}, since keyed state is kept by key group"
                )
        return Restore(checkpoint_id, content)

    def _timers(self, queue: str) -> list[tuple[int, object]]:
        timers = (timer for group in self._key_groups() for timer in group.timers)
        found = [(time, unwrap_key(key)) for name, time, key, _ in timers if name == queue]
        return sorted(found, key=lambda timer: timer[0])


@contextmanager
def _plain_errors() -> Iterator[None]:
    """Raise the user's own error; the engine's message is a note."""
    try:
        yield
    except SubtaskFailure as failure:
        cause = failure.__cause__
        if cause is None or isinstance(cause, SubtaskFailure):
            raise
        place = str(failure).rsplit("\nin ", 1)[-1]
        cause.add_note(f"in {place}")
        raise cause from cause.__cause__


class Feed(SameProcess):
    """The bundles and events that were pushed and not read yet."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting: deque[Bundle | Watermark | ChannelStatus] = deque()
        self.ended = False


class FeedSource(Source):
    """Reads a feed, in one subtask.

    Args:
        feed: where a test puts elements and watermarks.
    """

    timestamped = True
    parallel = False

    def __init__(self, feed: Feed) -> None:
        self._feed = feed

    def splits(self, parallelism: int) -> list[object]:
        """Return the only split."""
        return [None]

    def reader(
        self, splits: Sequence[object], restored: Sequence[object] | None, context: OperatorContext
    ) -> SourceReader:
        """Return a reader of the feed."""
        return _FeedReader(self._feed)


class _FeedReader(SourceReader):
    def __init__(self, feed: Feed) -> None:
        self._feed = feed

    @property
    def ended(self) -> bool:  # type: ignore[override]
        return self._feed.ended and not self._feed.waiting

    def poll(self) -> Bundle | Watermark | ChannelStatus | None:
        return self._feed.waiting.popleft() if self._feed.waiting else None

    def snapshot(self) -> list[object]:
        return []


class ManualClock(SameProcess):
    """A clock that advances only when a test or function moves it.

    User functions may hold it and move it, too: it is not copied when they are pickled.

    Args:
        now: what it shows, in ms since the epoch.

    Example:
        >>> clock = ManualClock(1_000)
        >>> clock.advance(500)
        >>> clock.now()
        1500
    """

    def __init__(self, now: int = 0) -> None:
        super().__init__()
        self._now = now

    def now(self) -> int:
        """Return the time in ms since the epoch."""
        return self._now

    def set(self, now: int) -> None:
        """Set the time.

        Args:
            now: in ms since the epoch.

        Raises:
            ValueError: if that is in the past.
        """
        if now < self._now:
            raise ValueError(f"the clock shows {self._now} ms and cannot go back to {now} ms")
        self._now = now

    def advance(self, milliseconds: int) -> None:
        """Move the time forward.

        Args:
            milliseconds: by how much.

        Raises:
            ValueError: if it is negative.
        """
        self.set(self._now + milliseconds)

    def __repr__(self) -> str:
        return f"ManualClock({self._now})"
