"""The contract of operators."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext
    from pyflink_on_spark._runtime.elements.watermark_rhythm import WatermarkRhythm

Process = Callable[[Iterator[Any]], Iterator[Any]]


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

    already_typed: Any = None
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

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Return an iterator over the results of some elements."""
        raise NotImplementedError

    def advance_watermark(self, watermark: int) -> Iterable[Any]:
        """Yield the elements that an advance of event time (ms) causes."""
        return ()

    def advance_processing_time(self, now: int) -> Iterable[Any]:
        """Yield the elements that an advance of processing time (ms) causes."""
        return ()

    def end_input(self) -> Iterable[Any]:
        """Yield the remaining elements at the end of all inputs, after the last watermark."""
        return ()

    def prepare_barrier(self) -> Iterable[Any]:
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

    def committables(self) -> list[Any]:
        """Return, once, the committables of this checkpoint, or of the end, for the driver."""
        return []

    def close(self) -> None:
        """Release all resources; called once, also after a failure."""

    def state_parts(self) -> dict[str, str]:
        """Return the properties that its keyed state depends on; see ``StateMeaning``."""
        return {"kind": "functions of a key"}

    def parts(self) -> Iterable[Any]:
        """Return the objects that do its work, so that a failure in one can be traced to here."""
        return ()
