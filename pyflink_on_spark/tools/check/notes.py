"""Where a walk over a script notes what it finds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyflink_on_spark.tools.check.findings import Findings
from pyflink_on_spark.tools.check.lookup import Lookup


class Notes:
    """The part of a walk that notes findings.

    Args:
        findings: where they go.
    """

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._lookup = Lookup(findings)

    @contextmanager
    def _unless(self, unused: bool) -> Iterator[None]:
        """Note what is found meanwhile as not called, if that is so."""
        before = self._findings.called
        self._findings.called = before and not unused
        try:
            yield
        finally:
            self._findings.called = before

    @contextmanager
    def _ignored(self) -> Iterator[None]:
        """Note nothing of what is found meanwhile."""
        before = self._findings, self._lookup
        self._findings = Findings("")
        self._lookup = Lookup(self._findings)
        try:
            yield
        finally:
            self._findings, self._lookup = before
