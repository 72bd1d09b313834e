"""Samples of the threads of subtasks: the stacks of users' functions, and their elements.

Nothing is counted while nobody asks: another thread looks at the frames of those that work.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from os.path import basename
from types import FrameType

from pyflink_on_spark._compat.own_frames import is_own
from pyflink_on_spark._runtime.diagnosis import Culprit, bounded_repr, worker_of
from pyflink_on_spark._runtime.task.subtask import Subtask

_DEEPEST = 100
_ELEMENT_CHARACTERS = 200


@dataclass(frozen=True)
class Stack:
    """The work of a thread at a moment.

    Args:
        task: the names of the operators that share the part of the subtask.
        subtask: the number of the subtask, from 0.
        operator: the name of the operator at work; empty if that is not known.
        frames: the functions that are not this package's, the outermost first.
    """

    task: str
    subtask: int
    operator: str
    frames: tuple[str, ...]


@dataclass(frozen=True)
class Current:
    """The element that a subtask worked on at the end of the samples.

    Args:
        stack: what its thread did.
        element: the element, or the timer or window, as a text; empty if that is not known.
        key: the element's key as a text; empty without one.
        unchanged: whether all samples show the same element, so that it may be stuck.
    """

    stack: Stack
    element: str
    key: str
    unchanged: bool


@dataclass(frozen=True)
class Samples:
    """The outcome of looking at all threads several times.

    Args:
        count: how many samples of all threads were taken.
        stacks: how often each stack was seen.
        current: the work of each thread at the end.
    """

    count: int
    stacks: Mapping[Stack, int]
    current: tuple[Current, ...]


def sample(
    samples: int,
    pause: float,
    frames: Callable[[], Mapping[int, FrameType]] = sys._current_frames,
    sleep: Callable[[float], None] = time.sleep,
) -> Samples:
    """Look at all threads of this process several times.

    Args:
        samples: how often.
        pause: the time between two samples, in s.
        frames: gives the innermost frame of each thread.
        sleep: waits for some seconds.
    """
    stacks: Counter[Stack] = Counter()
    seen: dict[int, set[int]] = {}
    last: dict[int, tuple[Stack, Culprit | None]] = {}
    for number in range(samples):
        if number:
            sleep(pause)
        last = {}
        for thread, innermost in frames().items():
            found = _look(innermost)
            if found is not None:
                stacks[found[0]] += 1
                last[thread] = found
            seen.setdefault(thread, set()).add(_identity(found))
    current = (
        _current(stack, culprit, len(seen[thread]) == 1)
        for thread, (stack, culprit) in last.items()
    )
    return Samples(samples, stacks, tuple(current))


def _look(innermost: FrameType) -> tuple[Stack, Culprit | None] | None:
    """The stack of a thread that works for a subtask; None for any other thread."""
    frames = list(_outside_in(innermost))
    subtask: Subtask | None = None
    for frame, _ in frames:
        if is_own(frame.f_code.co_filename):
            owner = frame.f_locals.get("self")
            subtask = owner if isinstance(owner, Subtask) else subtask
    if subtask is None:
        return None
    try:
        culprit = worker_of(frames, subtask.operators)
    except LookupError:  # a loop that has not drawn its first element yet
        culprit = None
    names = tuple(
        f"{frame.f_code.co_qualname} ({basename(frame.f_code.co_filename)}:{line})"
        for frame, line in frames
        if not is_own(frame.f_code.co_filename)
    )
    inside = names[_outer_frames(frames) :]
    operator = "" if culprit is None else culprit.plan.name
    name = subtask.part_name
    return Stack(name, subtask.identity.index, operator, inside[-_DEEPEST:]), culprit


def _outside_in(innermost: FrameType) -> Iterator[tuple[FrameType, int]]:
    frames = []
    frame: FrameType | None = innermost
    while frame is not None:
        frames.append((frame, frame.f_lineno))
        frame = frame.f_back
    return reversed(frames)


def _outer_frames(frames: list[tuple[FrameType, int]]) -> int:
    """The number of frames before this package's own: those of Spark's worker, or of a thread."""
    count = 0
    for frame, _ in frames:
        if is_own(frame.f_code.co_filename):
            return count
        count += 1
    return count


def _identity(found: tuple[Stack, Culprit | None] | None) -> int:
    if found is None or found[1] is None or found[1].subject is None:
        return 0
    return id(found[1].subject[1])


def _current(stack: Stack, culprit: Culprit | None, unchanged: bool) -> Current:
    subject = None if culprit is None else culprit.subject
    if culprit is None or subject is None:
        return Current(stack, "", "", False)
    kind, thing = subject
    element = f"the timer at {thing}" if kind == "time" else _text(thing)
    key = _text(culprit.key[0]) if culprit.key else ""
    return Current(stack, element, key, unchanged)


def _text(value: object) -> str:
    return bounded_repr(value, _ELEMENT_CHARACTERS)
