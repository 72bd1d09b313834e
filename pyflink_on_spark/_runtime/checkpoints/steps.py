"""Names for the steps of the protocol, so that tests can end a process at each of them."""

from __future__ import annotations

from collections.abc import Callable

_watchers: list[Callable[[str], None]] = []


def step(name: str) -> None:
    """Note that a step of the protocol is done; nothing happens unless somebody watches.

    Args:
        name: a literal, and another one for each place in the code.
    """
    for watcher in _watchers:
        watcher(name)


def watch(watcher: Callable[[str], None]) -> Callable[[], None]:
    """Call a function at each step of this process; return what ends that.

    Args:
        watcher: gets the name of the step; what it raises comes out of the step.
    """
    _watchers.append(watcher)
    return lambda: _watchers.remove(watcher)
