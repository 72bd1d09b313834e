"""The kinds of changes in a changelog."""

from __future__ import annotations

from dataclasses import dataclass

from pyflink_on_spark._compat.arguments import own_handle
from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._sql.plan.nodes import ChangeKinds

__all__ = ["ChangelogMode"]


@dataclass(frozen=True)
class _Mode:
    changes: ChangeKinds
    before: bool


class ChangelogMode:
    """The kinds of changes in a changelog.

    Args:
        j_changelog_mode: use ``insert_only``, ``upsert`` or ``all``.
    """

    def __init__(self, j_changelog_mode):
        self._mode: _Mode = own_handle(j_changelog_mode, _Mode, "ChangelogMode(j_changelog_mode)")

    @staticmethod
    def insert_only() -> ChangelogMode:
        """Return the mode of rows that are only added."""
        return ChangelogMode(_Mode(ChangeKinds.INSERT, True))

    @staticmethod
    def upsert() -> ChangelogMode:
        """Return the mode in which an update has only the new row."""
        return ChangelogMode(_Mode(ChangeKinds.ALL, False))

    @staticmethod
    def all() -> ChangelogMode:
        """Return the mode with all kinds of changes."""
        return ChangelogMode(_Mode(ChangeKinds.ALL, True))


__getattr__ = missing_name(__name__)
