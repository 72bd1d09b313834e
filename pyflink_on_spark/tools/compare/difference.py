"""The differences of two outputs."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

_SUBTASK = re.compile(r"^((?:[^>\n]*:)?)\d+> ")
_LOGGED_BY_ENGINES = (
    # Beam's and PyFlink's, in scripts that log to standard output
    "Using Any for unsupported type: ",
    "No module named google.cloud",
    "PYFLINK_CYTHON_ENABLED: ",
    # py4j's
    "Callback Server Starting",
    "Callback Server Shutting Down",
    "Callback Connection ready to receive messages",
    "Socket listening on ",
    "Python Server ready to receive messages",
    "Received command ",
    "Closing down clientserver connection",
    "Closing down callback connection",
)


@dataclass(frozen=True)
class Reading:
    """The rules for the comparison of outputs.

    Args:
        ordered: whether the order of lines counts.
        any_subtask: whether it does not count which subtask printed a line.
        ignored: lines in which one of these patterns is found do not count.
        logging: whether lines count that an engine itself logs.
    """

    ordered: bool = False
    any_subtask: bool = False
    ignored: tuple[re.Pattern[str], ...] = ()
    logging: bool = False

    def lines(self, output: str) -> list[str]:
        """Return the lines that count, as they are compared."""
        return [
            _SUBTASK.sub(r"\1", line) if self.any_subtask else line
            for line in output.splitlines()
            if self._counts(line)
        ]

    def _counts(self, line: str) -> bool:
        if not self.logging and line.startswith(_LOGGED_BY_ENGINES):
            return False
        return not any(pattern.search(line) for pattern in self.ignored)


@dataclass(frozen=True)
class Difference:
    """The lines that only one of two outputs has."""

    only_first: list[str]
    only_second: list[str]

    def __bool__(self) -> bool:
        return bool(self.only_first or self.only_second)


def difference(first: Sequence[str], second: Sequence[str], ordered: bool) -> Difference:
    """Return where two outputs differ.

    Args:
        first: the lines of one.
        second: the lines of the other.
        ordered: whether their order counts.
    """
    if not ordered:
        one, other = Counter(first), Counter(second)
        return Difference(list((one - other).elements()), list((other - one).elements()))
    only: tuple[list[str], list[str]] = [], []
    matcher = difflib.SequenceMatcher(None, first, second, autojunk=False)
    for kind, begin, end, other_begin, other_end in matcher.get_opcodes():
        if kind != "equal":
            only[0].extend(first[begin:end])
            only[1].extend(second[other_begin:other_end])
    return Difference(*only)
