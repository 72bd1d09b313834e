"""Checks that a checkpoint fits a job: all of its state has an owner, and the right one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._options.own import CHANGED_STATE, DROP, REFUSE, TAKE
from pyflink_on_spark._runtime.checkpoints.slot_state import SlotState, stateful_operators
from pyflink_on_spark._runtime.contract.state_meaning import Heirs, Meanings, heirs_of


@dataclass(frozen=True)
class JobLayout:
    """The owners of state in a job, by their stable names.

    Args:
        operators: with the number of key groups of each.
        sources: those that have positions.
        sinks: those that commit.
        adaptable: the operators that may have as many key groups as the checkpoint has.
        meanings: what their state means, as far as that is known.
    """

    operators: Mapping[str, int]
    sources: Collection[str]
    sinks: Collection[str]
    adaptable: Collection[str] = ()
    meanings: Meanings = field(default_factory=dict)


@dataclass(frozen=True)
class Found:
    """The checkpoint from which a job is to begin.

    Args:
        where: the checkpoint's name, for errors.
        state: of all its slots.
        committables: what sinks have to commit with it, each with the sink's name.
        meanings: what the state of operators means, as far as the checkpoint says it.
    """

    where: str
    state: SlotState
    committables: Collection[tuple[str, Any]] = ()
    meanings: Meanings = field(default_factory=dict)

    def heirs(self, owners: JobLayout) -> Heirs:
        """Return who takes over what in a job."""
        operators = stateful_operators(self.state)
        sinks = {name for name, _ in self.committables}
        names = dict.fromkeys([*operators, *self.state.sources, *sorted(sinks)])
        own = [name for name in operators if name not in sinks]
        return heirs_of(names, self.meanings, owners.meanings, own)


def check_restore(
    found: Found,
    owners: JobLayout,
    *,
    ignore_unclaimed: bool,
    changed: str = REFUSE,
) -> Heirs:
    """Make sure that all of a checkpoint has an owner in the job that begins with it.

    Args:
        found: the checkpoint.
        owners: the job's.
        ignore_unclaimed: whether what has no owner may be left out.
        changed: what happens to state that means something else in the job, as the option says.

    Returns:
        Who takes over what.

    Raises:
        CheckpointError: if something has no owner, has another number of key groups, or means
            something else.
    """
    for misfit in misfits(found, owners, ignore_unclaimed=ignore_unclaimed, changed=changed):
        raise CheckpointError(misfit)
    heirs = found.heirs(owners)
    return heirs.without_changed() if changed == DROP else heirs


def misfits(
    found: Found,
    owners: JobLayout,
    *,
    ignore_unclaimed: bool,
    changed: str = REFUSE,
) -> Iterator[str]:
    """Yield why a job cannot begin with a checkpoint, each reason a sentence or some lines.

    Args:
        found: the checkpoint.
        owners: the job's.
        ignore_unclaimed: whether what has no owner may be left out.
        changed: what happens to state that means something else in the job, as the option says.
    """
    where, heirs = found.where, found.heirs(owners)
    if changed == REFUSE:
        for name in heirs.changed:
            now = heirs.name(name) or name
            at = "" if now == name else f", where it would be that of {now!r}"
            yield (
                f"{where} has state of {name!r} that means something else in this job{at}.\n"
                f"  There: {found.meanings[name]}\n"
                f"  Here: {owners.meanings[now]}\n"
                f"Begin with the program that wrote it, or without it. {CHANGED_STATE.key}={DROP} "
                f"lets such operators start empty, and {TAKE} lets them continue with what is "
                "there, which gives wrong results unless both mean the same to you."
            )
    if not ignore_unclaimed:
        for what in unclaimed(found, owners):
            yield (
                f"{where} has {what}, which this job has not. Give operators, sources and sinks a "
                "uid() that stays, or set execution.state-recovery.ignore-unclaimed-state to leave "
                "out what belongs to none."
            )
    for stored, maximum in stateful_operators(found.state).items():
        heir = heirs.name(stored)
        if heir is None or (changed == DROP and stored in heirs.changed):
            continue
        groups = owners.operators.get(heir, maximum)
        if groups != maximum and heir not in owners.adaptable:
            yield (
                f"{where} was written with a max parallelism of {maximum} for {heir!r}; "
                f"the job has {groups}. Set it with set_max_parallelism({maximum})."
            )


def unclaimed(found: Found, owners: JobLayout) -> Iterator[str]:
    """Yield a description of each part of a checkpoint that has no owner in the job."""
    heirs = found.heirs(owners)

    def lost(names: Iterable[str], known: Collection[str]) -> Iterator[str]:
        return (name for name in names if heirs.name(name) not in known)

    for name in lost(stateful_operators(found.state), owners.operators):
        meaning = found.meanings.get(name)
        yield f"state of the operator {name!r}" + (f" ({meaning})" if meaning else "")
    # No positions at all say something, too: that a source was read to its end.
    for name in lost(found.state.sources, owners.sources):
        yield f"the positions of the source {name!r}"
    for name in lost((name for name, _ in found.committables), owners.sinks):
        yield f"what is to be committed by the sink {name!r}"
