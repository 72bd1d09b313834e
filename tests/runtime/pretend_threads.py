"""Threads whose work is done when chance wants it, in the thread of the test."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from pyflink_on_spark._runtime.task.subtask_group import SubtaskGroup
from pyflink_on_spark._runtime.task.subtask_threads import Finished, SubtaskThreads


class PretendThreads(SubtaskThreads):
    """Does a piece of work some time after it was submitted.

    Args:
        seed: of what chance decides.
    """

    def __init__(self, seed: int) -> None:
        super().__init__(lambda: None)
        self._random = random.Random(seed)
        self._numbers: set[int] = set()
        self._pieces: dict[int, Callable[[], object]] = {}

    def __contains__(self, number: int) -> bool:
        return number in self._numbers

    def start(self, number: int) -> None:
        self._numbers.add(number)

    def submit(self, number: int, piece: Callable[[], object]) -> None:
        assert number not in self._pieces, "a part does two things at once"
        self._pieces[number] = piece

    def call(self, number: int, function: Callable[[], Any]) -> Any:
        assert number not in self._pieces, "a part is used while it works"
        return function()

    def finished(self, seconds: float | None = 0.0) -> Finished | None:
        if not self._pieces or (seconds == 0.0 and self._random.random() < 0.5):
            return None
        number = self._random.choice(list(self._pieces))
        piece = self._pieces.pop(number)
        try:
            piece()
        except BaseException as error:  # noqa: BLE001 - as real threads do
            return number, error
        return number, None

    def stop(self) -> None:
        assert not self._pieces
        self._numbers.clear()

    def let_some_wait(self, group: SubtaskGroup) -> None:
        """Let chance find that a part waits."""
        if self._random.random() < 0.2:
            group.note_waiting(self._random.choice(group.numbers))
