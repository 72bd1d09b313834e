"""Checks, without running a job, that it can begin with a checkpoint or savepoint."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice

from pyflink_on_spark._job.checkpoints.checkpoint_settings import CheckpointSettings
from pyflink_on_spark._job.checkpoints.layout import layout_of
from pyflink_on_spark._job.submission.job import Job
from pyflink_on_spark._options.own import DROP
from pyflink_on_spark._runtime.checkpoints.checkpoint import read_committables
from pyflink_on_spark._runtime.checkpoints.contents import CheckpointContents, Opaque
from pyflink_on_spark._runtime.checkpoints.restore_check import Found, misfits, unclaimed
from pyflink_on_spark._runtime.checkpoints.slot_state import stateful_operators
from pyflink_on_spark._runtime.contract.plan import OperatorPlan, source_meanings, source_names
from pyflink_on_spark._runtime.contract.state_meaning import Heirs
from pyflink_on_spark._runtime.elements.keys import unwrap_key
from pyflink_on_spark._runtime.key_groups.assignment import KeyGroups
from pyflink_on_spark._runtime.task.key_group_check import is_in, misplaced
from pyflink_on_spark.flink_state.conversion import Conversion

_KEYS_TRIED = 1000


@dataclass(frozen=True)
class SavepointCheck:
    """The result of the check: the fate of each operator's state in a checkpoint.

    Args:
        problems: why the job cannot begin with it, each a sentence.
        restored: the operators and sources whose state the job takes over.
        dropped: what the job leaves out, because it was asked to.
        empty: the operators and sources of the job that are not in the checkpoint.
    """

    problems: tuple[str, ...]
    restored: tuple[str, ...]
    dropped: tuple[str, ...]
    empty: tuple[str, ...]


def savepoint_check(job: Job, contents: CheckpointContents) -> SavepointCheck:
    """Return whether a job can begin with a checkpoint.

    The owners of state are compared, what their state means, their numbers of key groups, and the
    key groups of keys, which depend on the declared type of the keys. Which states a function has
    is known once it runs only.

    Args:
        job: the job, which need not run.
        contents: the checkpoint.
    """
    operators, state = list(job.operators()), contents.whole
    owners = layout_of(operators, source_names(job.stages), source_meanings(job.stages))
    committables = read_committables(contents.place, contents.metadata, contents.load)
    settings = CheckpointSettings.of(job.settings.configuration)
    ignored, changed = settings.ignore_unclaimed, settings.changed_state
    checkpoint = Found(contents.path, state, committables, contents.metadata.state_meanings)
    heirs = checkpoint.heirs(owners)
    left_out = [f"state of {name!r}, which means something else" for name in heirs.changed]
    if changed == DROP:
        heirs = heirs.without_changed()
    found = {
        heir: stored
        for stored in (*stateful_operators(state), *state.sources)
        if (heir := heirs.name(stored)) is not None
    }
    owned = {*owners.operators, *owners.sources}
    return SavepointCheck(
        (
            *misfits(checkpoint, owners, ignore_unclaimed=ignored, changed=changed),
            *(
                problem
                for plan in operators
                for problem in _moved_keys(plan, contents, found.get(plan.state_id or ""))
            ),
        ),
        tuple(sorted(_shown(name, found[name], heirs) for name in found.keys() & owned)),
        (
            *(left_out if changed == DROP else ()),
            *(unclaimed(checkpoint, owners) if ignored else ()),
        ),
        tuple(sorted(owned - found.keys())),
    )


def with_conversion(check: SavepointCheck, found: Conversion, job: Job) -> SavepointCheck:
    """Add what could not be taken over of a savepoint of Flink, and how much of the rest was.

    Args:
        check: of what was taken over.
        found: what became of the savepoint of Flink.
        job: the job.
    """
    ignored = CheckpointSettings.of(job.settings.configuration).ignore_unclaimed
    restored = (
        f"{name} ({found.taken[name]})" if name in found.taken else name for name in check.restored
    )
    left_out = [why for why in found.refused if ignored and why not in found.damaged]
    return replace(
        check,
        problems=(*(why for why in found.refused if why not in left_out), *check.problems),
        restored=tuple(restored),
        dropped=(*check.dropped, *left_out),
    )


def _shown(name: str, stored: str, heirs: Heirs) -> str:
    what = "something else" if stored in heirs.changed else "the same"
    if name != stored:
        return f"{name} ({stored} there, which means {what})"
    return f"{name} (which means {what} there)" if stored in heirs.changed else name


def _moved_keys(plan: OperatorPlan, contents: CheckpointContents, stored: str | None) -> list[str]:
    """Return an error if the job assigns stored keys to other key groups."""
    parts = contents.whole.operators.get(stored or "", {})
    for part in parts.values():
        key_groups = KeyGroups(part.max_parallelism, plan.key_type)
        for group, key in islice(contents.placed_keys(part), _KEYS_TRIED):
            if not isinstance(unwrap_key(key), Opaque) and not is_in(key_groups, key, group):
                return [misplaced(plan, key)]
    return []
