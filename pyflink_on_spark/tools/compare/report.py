"""Two runs of a script, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pyflink_on_spark.tools.compare.difference import Difference, Reading, difference
from pyflink_on_spark.tools.compare.run import Run

_MOST_LINES = 20
_LAST_ERRORS = 15


class Comparison:
    """The comparison of two runs.

    Args:
        first: the run on real PyFlink.
        second: the run here.
        reading: how their outputs are to be compared.
    """

    def __init__(self, first: Run, second: Run, reading: Reading) -> None:
        self._runs = (first, second)
        self._reading = reading
        self._lines = [reading.lines(run.output) for run in self._runs]
        self._difference = self._compared(reading)

    @property
    def equal(self) -> bool:
        """True if both runs printed the same and ended in the same way."""
        first, second = self._runs
        return not self._difference and first.status == second.status

    def text(self, everything: bool) -> str:
        """Return the report.

        Args:
            everything: whether to show all lines that differ, not only the first.
        """
        lines = [*self._table(), ""]
        if self._difference:
            lines += self._differing(self._difference, everything)
        else:
            order = "in the same order" if self._reading.ordered else "in whatever order"
            lines.append(f"The same lines, {order}.")
        if not self.equal and not self._difference:
            lines.append("But they ended in different ways.")
        for run in self._runs:
            lines += _errors(run)
        return "\n".join(lines)

    def _compared(self, reading: Reading) -> Difference:
        first, second = (reading.lines(run.output) for run in self._runs)
        return difference(first, second, reading.ordered)

    def _table(self) -> Iterator[str]:
        yield _line("", [run.engine for run in self._runs])
        yield _line("exit status", [_status(run) for run in self._runs])
        yield _line("seconds", [f"{run.seconds:.1f}" for run in self._runs])
        yield _line("lines", [str(len(lines)) for lines in self._lines])

    def _differing(self, found: Difference, everything: bool) -> Iterator[str]:
        sides = ((found.only_first, "-"), (found.only_second, "+"))
        for run, (lines, mark) in zip(self._runs, sides, strict=True):
            if lines:
                yield f"only {_where(run)}: {len(lines)} {'line' if len(lines) == 1 else 'lines'}"
                shown = lines if everything else lines[:_MOST_LINES]
                yield from (f"  {mark} {line}" for line in shown)
                if len(shown) < len(lines):
                    yield f"  ... and {len(lines) - len(shown)} more; --all shows them"
        relaxed = replace(self._reading, any_subtask=True)
        if not self._reading.any_subtask and not self._compared(relaxed):
            yield "Only the subtasks differ that printed the lines: --any-subtask leaves them out."


def _line(heading: str, cells: Sequence[str]) -> str:
    return (f"{heading:<12}" + "".join(f"{cell:<12}" for cell in cells)).rstrip()


def _status(run: Run) -> str:
    return "killed" if run.status is None else str(run.status)


def _errors(run: Run) -> Iterator[str]:
    if run.status is None:
        yield f"\n{run.engine}: killed after {run.seconds:.0f} s; --timeout gives it more time"
    elif run.status != 0:
        yield f"\n{run.engine}: the end of what it said on standard error"
        yield from (f"  {line}" for line in run.errors.splitlines()[-_LAST_ERRORS:])


def _where(run: Run) -> str:
    return run.engine if run.engine == "here" else f"on {run.engine}"
