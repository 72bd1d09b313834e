"""Whether restored keys are in the key groups where the job will look for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.contract.plan import OperatorPlan
from pyflink_on_spark._runtime.elements.keys import unwrap_key
from pyflink_on_spark._runtime.key_groups.assignment import KeyGroups
from pyflink_on_spark._runtime.state.snapshot import KeyGroupState, Piece


def in_their_key_groups(
    plan: OperatorPlan, pieces: Iterable[tuple[int, Piece]], key_groups: KeyGroups
) -> Iterator[Piece]:
    """Yield pieces of keyed state; the first key of each is looked at.

    Args:
        plan: the operator that the pieces belong to.
        pieces: with the key group of each.
        key_groups: the key groups of the operator's keys in this job.

    Raises:
        CheckpointError: the keys are in other key groups than before, because their declared type
            is another one.
    """
    for group, piece in pieces:
        for key in _first_key(piece):
            if not is_in(key_groups, key, group):
                raise CheckpointError(misplaced(plan, key))
        yield piece


def misplaced(plan: OperatorPlan, key: Any) -> str:
    """Return a sentence about an operator's key that the job would not find."""
    typed = "no key_type" if plan.key_type is None else f"the key_type {plan.key_type}"
    return (
        f"the checkpoint has the key {unwrap_key(key)!r} of {plan.state_id!r} in another key group "
        f"than a job with {typed} would look in: give key_by the key_type with which the state was "
        "written."
    )


def is_in(key_groups: KeyGroups, key: Any, group: int) -> bool:
    """Tell whether a key, as the engine has it, belongs to a key group."""
    try:
        return key_groups.of(key) == group
    except (TypeError, ValueError, AttributeError, OverflowError):
        return False  # a key that does not even have the declared type


def _first_key(piece: Piece) -> Iterator[Any]:
    if isinstance(piece, KeyGroupState):
        for namespaces in piece.tables.values():
            for entries in namespaces.values():
                for key in entries:
                    yield key
                    return
        if piece.timers:
            yield piece.timers[0][2]
    elif piece.entries:
        yield piece.entries[0][2]
