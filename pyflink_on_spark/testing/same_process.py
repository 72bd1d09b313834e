"""Objects that stay what they are when user functions are pickled: there is only one process."""

from __future__ import annotations

import itertools
import weakref

_numbers = itertools.count()
_known: weakref.WeakValueDictionary[int, SameProcess] = weakref.WeakValueDictionary()


class SameProcess:
    """An object that a pickle refers to instead of copying it.

    So a function under test, which is pickled on its way into the job, and the test itself hold one
    and the same object. The reference is of use in this process only, as long as the object lives.
    """

    def __init__(self) -> None:
        self._number = next(_numbers)
        _known[self._number] = self

    def __reduce__(self) -> tuple[object, ...]:
        return _recall, (self._number, type(self).__name__)

    def __deepcopy__(self, memo: object) -> SameProcess:
        return self


def _recall(number: int, name: str) -> SameProcess:
    try:
        return _known[number]
    except KeyError:
        raise LookupError(
            f"this {name} is gone, or belongs to another process: use it in-process only"
        ) from None
