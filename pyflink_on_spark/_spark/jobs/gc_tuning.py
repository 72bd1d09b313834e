"""How often Python looks for garbage in a process that runs subtasks."""

from __future__ import annotations

import gc

_YOUNG, _MIDDLE, _OLD = 50_000, 20, 50


def tune_garbage_collection() -> None:
    """Let Python search for cycles after 50,000 new objects and not after 700.

    A bundle alone has more than those, and hardly ever a cycle among them: the searches took a
    tenth of the time of a job that counts words.
    """
    gc.set_threshold(_YOUNG, _MIDDLE, _OLD)
