"""Whether a checkpoint fits a job: nothing of it may get lost without a word."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.checkpoints.slot_state import SlotState, stateful_operators


@dataclass(frozen=True)
class JobLayout:
    """The owners of state in a job, by their stable names.

    Args:
        operators: with the number of key groups of each.
        sources: those that have positions.
        sinks: those that commit.
        adaptable: the operators that may have as many key groups as the checkpoint has.
    """

    operators: Mapping[str, int]
    sources: Collection[str]
    sinks: Collection[str]
    adaptable: Collection[str] = ()


def check_restore(
    where: str,
    state: SlotState,
    committables: Iterable[tuple[str, Any]],
    owners: JobLayout,
    *,
    ignore_unclaimed: bool,
) -> None:
    """Make sure that all of a checkpoint has an owner in the job that begins with it.

    Args:
        where: the checkpoint's name, for errors.
        state: of all its slots.
        committables: what sinks have to commit with it, each with the sink's name.
        owners: the job's.
        ignore_unclaimed: whether what has no owner may be left out.

    Raises:
        CheckpointError: if something has none, or has another number of key groups.
    """
    for misfit in misfits(where, state, committables, owners, ignore_unclaimed=ignore_unclaimed):
        raise CheckpointError(misfit)


def misfits(
    where: str,
    state: SlotState,
    committables: Iterable[tuple[str, Any]],
    owners: JobLayout,
    *,
    ignore_unclaimed: bool,
) -> Iterator[str]:
    """Yield why a job cannot begin with a checkpoint, each reason a sentence.

    Args:
        where: the checkpoint's name.
        state: of all its slots.
        committables: what sinks have to commit with it, each with the sink's name.
        owners: the job's.
        ignore_unclaimed: whether what has no owner may be left out.
    """
    stateful = stateful_operators(state)
    if not ignore_unclaimed:
        for what in unclaimed(state, committables, owners):
            yield (
                f"{where} has {what}, which this job has not. Give operators, sources and sinks a "
                "uid() that stays, or set execution.state-recovery.ignore-unclaimed-state to leave "
                "out what belongs to none."
            )
    for name, maximum in stateful.items():
        now = owners.operators.get(name, maximum)
        if now != maximum and name not in owners.adaptable:
            yield (
                f"{where} was written with a max parallelism of {maximum} for {name!r}; "
                f"the job has {now}. Set it with set_max_parallelism({maximum})."
            )


def unclaimed(
    state: SlotState, committables: Iterable[tuple[str, Any]], owners: JobLayout
) -> Iterator[str]:
    """Yield what of a checkpoint has no owner in a job."""
    for name in stateful_operators(state):
        if name not in owners.operators:
            yield f"state of the operator {name!r}"
    for name in state.sources:
        # No positions at all say something, too: that a source was read to its end.
        if name not in owners.sources:
            yield f"the positions of the source {name!r}"
    for name, _ in committables:
        if name not in owners.sinks:
            yield f"what is to be committed by the sink {name!r}"
