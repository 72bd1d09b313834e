"""The uses of PyFlink in a script."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from pyflink_on_spark.tools.check.verdict import Status, Verdict


@dataclass
class Use:
    """One name of PyFlink's that a script uses.

    Args:
        name: the name, for example ``DataStream.map``.
        verdict: how it fares on Spark.
        lines: where it is used, from 1.
        called: whether it is used when the script is run, as far as can be seen.
    """

    name: str
    verdict: Verdict
    lines: list[int] = field(default_factory=list)
    called: bool = False


class Findings:
    """The uses of PyFlink in one script.

    Attributes:
        path: the script's file.
        called: whether what is added now is used when the script is run.
        own_modules: the files beside the script that it imports.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.called = True
        self.own_modules: list[Path] = []
        self._uses: dict[tuple[str, Verdict], Use] = {}

    def add(self, name: str, verdict: Verdict, line: int) -> None:
        """Note a use."""
        use = self._uses.setdefault((name, verdict), Use(name, verdict))
        use.called = use.called or self.called
        if line not in use.lines:
            use.lines.append(line)
            use.lines.sort()

    def has(self, name: str) -> bool:
        """True if a use of a name has been noted."""
        return any(name == known for known, _ in self._uses)

    @property
    def uses(self) -> list[Use]:
        """All uses, in the order of the first line of each."""
        return sorted(self._uses.values(), key=lambda use: (use.lines[0], use.name))

    @property
    def runs(self) -> bool:
        """True if nothing prevents the script from running."""
        return all(use.verdict.status.runs for use in self.uses if use.called)

    def count(self, status: Status) -> int:
        """Return how many names have a status."""
        return sum(use.verdict.status is status for use in self.uses)
