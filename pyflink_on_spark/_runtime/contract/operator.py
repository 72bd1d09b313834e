"""The contract of operators, and the contexts that operators and functions get."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.elements.bundle import MIN_TIMESTAMP
from pyflink_on_spark._runtime.elements.time import Clock, SystemClock
from pyflink_on_spark._runtime.metrics import OperatorMetrics
from pyflink_on_spark._runtime.state.operator_state import OperatorState
from pyflink_on_spark.metrics import MetricGroup

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.elements.bundle import Cursor
    from pyflink_on_spark._runtime.elements.time import WatermarkRhythm
    from pyflink_on_spark._runtime.state.backend import KeyedStateBackend
    from pyflink_on_spark.common.typeinfo import TypeInformation


Process = Callable[[Iterator[object]], Iterator[Any]]

SendItems = Callable[[list[Any]], None]
"""Takes the next items of a channel to the driver, in their order."""

DriverChannels = Callable[[str], SendItems]
"""Opens the channel of a name."""


class Operator:
    """One step of a chain: turns an iterator of elements into an iterator of elements, lazily.

    The driver makes an operator, a description that several places of a job may have in common.
    Each place in each subtask opens a copy of its own once, before the first element. Watermarks
    arrive between elements; what ``advance_watermark`` yields passes the rest of the chain before
    the watermark does.

    ``cursor.Cursor`` says what an operator does about the timestamps of its elements.
    """

    keyed: bool = False
    """True if received elements are pairs of key and value."""

    emits_pairs: bool = False
    """True if emitted elements are pairs of key and value."""

    emits_timestamps: bool = False
    """True if emitted elements have timestamps even where received elements have none."""

    ends_chain: bool = False
    """True if no other operator follows in the chain."""

    preserves_elements: bool = False
    """True for an operator that emits only received elements, unchanged."""

    sorted_in_batch: bool = True
    """True for a keyed operator that in BATCH receives one key after the other."""

    mixes_keys: bool = False
    """True if in BATCH elements without timestamps arrive with their keys mixed."""

    emits_immutable: bool = False
    """True if emitted elements are deeply immutable, so that they need no copies."""

    watermark_delay: int = 0
    """How much earlier (ms) than the watermark that it got the times of its elements may be."""

    already_typed: TypeInformation | None = None
    """The type that what it emits has been converted to, or None."""

    def for_job(self, rhythm: WatermarkRhythm) -> Operator:
        """Return this operator as configured for a job.

        Args:
            rhythm: how often watermarks are emitted.
        """
        return self

    def open(self, context: OperatorContext) -> None:
        """Get ready; called once, before the first element."""

    def inputs(self) -> tuple[Process, ...]:
        """Return the function that processes the elements of each input."""
        return (self.process,)

    def process(self, elements: Iterator[object]) -> Iterator[object]:
        """Return an iterator over the results of some elements."""
        raise NotImplementedError

    def advance_watermark(self, watermark: int) -> Iterable[object]:
        """Yield the elements that an advance of event time (ms) causes."""
        return ()

    def advance_processing_time(self, now: int) -> Iterable[object]:
        """Yield the elements that an advance of processing time (ms) causes."""
        return ()

    def next_processing_time(self) -> int | None:
        """Return when (ms) the clock may cause something next, unless an element comes before.

        It is asked between two checkpoints without an element, if the operator follows the clock.

        Returns:
            A time that is over if the operator cannot tell; None for never.
        """
        return 0

    def end_input(self) -> Iterable[object]:
        """Yield the remaining elements at the end of all inputs, after the last watermark."""
        return ()

    def prepare_barrier(self) -> Iterable[object]:
        """Yield the elements that have to precede the barrier of a checkpoint, and its snapshot."""
        return ()

    def snapshot_state(self, checkpoint_id: int) -> None:
        """Put the state to save into ``context.keyed_state`` or ``context.operator_state``.

        Called between two bundles, before those are written to a checkpoint. ``open`` finds them
        as they were, and ``context.restored`` then is the checkpoint's number.
        """

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """Take note that a checkpoint is complete."""

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        """Take note that a checkpoint was aborted after ``snapshot_state``; the job continues."""

    def committables(self) -> list[object]:
        """Return, once, the committables of this checkpoint, or of the end, for the driver."""
        return []

    def close(self) -> None:
        """Release all resources; called once, also after a failure."""

    def state_parts(self) -> dict[str, str]:
        """Return the properties that its keyed state depends on; see ``StateMeaning``."""
        return {"kind": "functions of a key"}

    def parts(self) -> Iterable[object]:
        """Return the objects that do its work, so that a failure in one can be traced to here."""
        return ()


class SplitTimes:
    """Takes the event times of a subtask's rows to the reader that the rows come from.

    The reader of a source names the split of each bundle that ``poll`` returns, and operators note
    the times of the rows that they process. A subtask polls a source only when nothing waits to be
    processed: the rows between two calls of ``poll`` are those of one bundle.
    """

    def __init__(self) -> None:
        self._split: Hashable = None
        self._largest: dict[object, int] = {None: MIN_TIMESTAMP}

    def begin(self, split: Hashable, largest: dict[Any, int]) -> None:
        """Let operators note the times of a bundle.

        Args:
            split: the split of the bundle.
            largest: the largest time (ms) of each split since the reader has looked.
        """
        self._split, self._largest = split, largest
        largest.setdefault(split, MIN_TIMESTAMP)

    def note(self, time: int) -> None:
        """Note the event time (ms) of a row of the current bundle."""
        before = self._largest.get(self._split, MIN_TIMESTAMP)  # the reader may have looked since
        self._largest[self._split] = max(before, time)


@dataclass
class OperatorContext:
    """The services that an operator may use between its ``open`` and its ``close``.

    Args:
        task: who the subtask is.
        cursor: the element in flight; shared by the operators of a chain.
        clock: processing time.
        side_output: ``side_output(tag_id, value)`` emits with the cursor's timestamp.
        driver: ``driver(channel)`` gives a function that sends a list of things to the driver.
        keyed_state: the state of the keys of this subtask; None for an operator that is not keyed.
        operator_state: the operator's state that belongs to no key.
        restored: the number of the checkpoint that the state comes from; None at a fresh start.
        copied: whether that is a savepoint, whose job may continue beside this one.
        runtime_context: what the user's functions get in ``open``.
        checkpointed: whether the job makes checkpoints.
        head_state: the keyed state of the operator that heads the chain of Python operators that
            this one is in, and whose event time it sees.
        split_times: takes event times to the reader of a source; one for each subtask.
        asks: whether the driver hands out splits to readers that ask.
        configuration: of the job.
        opens_functions: whether ``open`` of the user's functions is called; False where a tool
            only looks at the plan.
    """

    task: TaskInfo
    cursor: Cursor
    clock: Clock
    side_output: Callable[[str, object], None]
    driver: DriverChannels
    keyed_state: KeyedStateBackend | None
    runtime_context: RuntimeContext
    operator_state: OperatorState = field(default_factory=OperatorState)
    restored: int | None = None
    copied: bool = False
    checkpointed: bool = False
    head_state: KeyedStateBackend | None = None
    split_times: SplitTimes = field(default_factory=SplitTimes)
    asks: bool = False
    configuration: Mapping[str, str] = field(default_factory=dict)
    opens_functions: bool = True


@dataclass(frozen=True)
class TaskInfo:
    """The identity of a subtask, and of its task.

    Args:
        task_name: the names of the chained operators, joined by `` -> ``.
        subtask_index: from 0.
        parallelism: how many subtasks the vertex has.
        max_parallelism: up to which the task's parallelism may grow.
        attempt: how often the job was restarted, from 0.
        job_id: 32 hexadecimal digits.
        job_parameters: the user's global job parameters.
        batch: whether the job runs with BATCH semantics.
    """

    task_name: str
    subtask_index: int
    parallelism: int
    max_parallelism: int = 128
    attempt: int = 0
    job_id: str = ""
    job_parameters: Mapping[str, str] = field(default_factory=dict)
    batch: bool = False

    @property
    def task_name_with_subtasks(self) -> str:
        """The name with the subtask from 1, the parallelism and the attempt."""
        return f"{self.task_name} ({self.subtask_index + 1}/{self.parallelism})#{self.attempt}"


class RuntimeContext:
    """The context of a function: its subtask, its state and its metrics.

    Args:
        task: who the subtask is.
        keyed_state: the state of the subtask's keys; None outside keyed streams.
        clock: processing time.
    """

    def __init__(
        self,
        task: TaskInfo,
        keyed_state: KeyedStateBackend | None,
        clock: Clock | None = None,
    ) -> None:
        self._task = task
        self._keyed_state = keyed_state
        self._clock = clock or SystemClock()
        self.metrics: OperatorMetrics | None = None
        """The operator's metrics, once somebody has asked for its metrics group."""

    def withhold_state(self) -> None:
        """Give no state from now on: the function does not run with a current key."""
        self._keyed_state = None

    def get_task_name(self) -> str:
        """Return the name of the task."""
        return self._task.task_name

    def get_number_of_parallel_subtasks(self) -> int:
        """Return the parallelism."""
        return self._task.parallelism

    def get_max_number_of_parallel_subtasks(self) -> int:
        """Return the number of key groups."""
        return self._task.max_parallelism

    def get_index_of_this_subtask(self) -> int:
        """Return the index of the subtask, from 0."""
        return self._task.subtask_index

    def get_attempt_number(self) -> int:
        """Return how often the job was restarted, from 0."""
        return self._task.attempt

    def get_task_name_with_subtasks(self) -> str:
        """Return the name with the subtask from 1, the parallelism and the attempt."""
        return self._task.task_name_with_subtasks

    def get_job_parameter(self, key: str, default_value: str) -> str:
        """Return one of the user's global job parameters."""
        return self._task.job_parameters.get(key, default_value)

    def get_metrics_group(self) -> MetricGroup:
        """Return where the function registers its metrics.

        On Spark: their values are the job's accumulators, under the names of the groups and the
        metric with dots between: counters add up over the subtasks, meters give count and rate,
        distributions count, sum, min, max and mean, and of a gauge it is the value in the last
        subtask. PyFlink shows them in Flink's web interface only.
        """
        if self.metrics is None:
            self.metrics = OperatorMetrics(self._clock)
        return self.metrics.group

    def get_state(self, state_descriptor: object) -> object:
        """Return the current key's single value."""
        return _of_key(self._keyed().value_state(state_descriptor))

    def get_list_state(self, state_descriptor: object) -> object:
        """Return the current key's list."""
        return _of_key(self._keyed().list_state(state_descriptor))

    def get_map_state(self, state_descriptor: object) -> object:
        """Return the current key's map."""
        return _of_key(self._keyed().map_state(state_descriptor))

    def get_reducing_state(self, state_descriptor: object) -> object:
        """Return the current key's reduced value."""
        return _of_key(self._keyed().reducing_state(state_descriptor))

    def get_aggregating_state(self, state_descriptor: object) -> object:
        """Return the current key's aggregate."""
        return _of_key(self._keyed().aggregating_state(state_descriptor))

    def _keyed(self) -> KeyedStateBackend:
        if self._keyed_state is None:
            raise RuntimeError(
                "This state is only accessible by functions executed on a KeyedStream: "
                f"call key_by() before this operator (task {self._task.task_name!r})"
            )
        return self._keyed_state


def _of_key(state: Any) -> object:
    """Return a state as that of the key alone, if it was used as that of a window before."""
    state.set_current_namespace(None)
    return state
