"""How often Python looks for garbage in a process that runs subtasks, and where."""

from __future__ import annotations

import gc
import sys

_YOUNG, _MIDDLE, _OLD = 50_000, 20, 50
_frozen_with = 0  # so many modules were loaded when objects were frozen


def tune_garbage_collection() -> None:
    """Let Python search for cycles after 50,000 new objects and not after 700, in new ones only.

    A bundle alone has more than those, and hardly ever a cycle among them: the searches took a
    tenth of the time of a job that counts words. PySpark's workers collect garbage after each task.
    So what lives when a task begins are mostly modules, which need no search.
    """
    global _frozen_with  # noqa: PLW0603 - of the process
    gc.set_threshold(_YOUNG, _MIDDLE, _OLD)
    if len(sys.modules) > _frozen_with:
        gc.freeze()
        _frozen_with = len(sys.modules)
