"""Windows that merge: which there are of a key, and under which window their contents are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.state.backend import KeyedStateBackend

STATE_NAME = "merging-window-set"

Merged = Callable[[Any, list[Any], Any, list[Any]], None]
"""Called with a merger: the result, the windows that it replaces, the state windows of both."""


class _Mergers:
    """What an assigner tells when it merges windows."""

    __slots__ = ("found",)

    def __init__(self) -> None:
        self.found: list[tuple[Any, list[Any]]] = []

    def merge(self, to_be_merged: Iterable[Any], merge_result: Any) -> None:
        """Note one merger."""
        self.found.append((merge_result, list(to_be_merged)))


class MergingWindows:
    """The windows of each key.

    A window's contents stay where they are when it is merged: under the "state window", which is
    the oldest of those that became one.

    Args:
        assigner: knows which windows merge.
        backend: keeps, for each key, a dict from windows to state windows.
    """

    __slots__ = ("_assigner", "_backend", "_table")

    def __init__(self, assigner: Any, backend: KeyedStateBackend) -> None:
        self._assigner = assigner
        self._backend = backend
        self._table = backend.table(STATE_NAME, "map")

    def state_window(self, window: Any) -> Any:
        """Return the current key's window that has the contents of a window, or None."""
        windows = self._table.current.get(self._backend.key)
        return None if windows is None else windows.get(window)

    def retire(self, window: Any) -> None:
        """Forget a window of the current key."""
        table, key = self._table, self._backend.key
        windows = table.current[key]
        del windows[window]
        if not windows:
            del table.current[key]
        self._note()

    def add(self, new: Any, merged: Merged) -> Any:
        """Add a window to those of the current key; return the window that it is part of.

        Args:
            new: the window.
            merged: called with each merger.
        """
        windows = self._table.current.setdefault(self._backend.key, {})
        if new in windows:
            return new
        mergers = _Mergers()
        self._assigner.merge_windows([*windows, new], mergers)
        actual, placed = new, False
        for result, members in mergers.found:
            if new in members:
                actual = result
            replaced = [window for window in windows if window in members]
            if not replaced:
                continue
            placed = placed or actual == result
            target, *sources = [windows.pop(window) for window in replaced]
            windows[result] = target
            if replaced != [result]:
                merged(result, replaced, target, sources)
        if not placed:
            windows[actual] = actual
        self._note()
        return actual

    def _note(self) -> None:
        if self._table.changed is not None:
            self._table.changed[None].add(self._backend.key)
