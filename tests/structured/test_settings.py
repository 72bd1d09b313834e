"""A query takes settings of its own, and leaves the user's session as it was."""

from __future__ import annotations

from typing import Any

import pytest

from pyflink_on_spark._spark.structured.query_settings import meanwhile


class _Session:
    """A session with the settings of a user."""

    def __init__(self, **settings: str) -> None:
        self.settings = settings
        self.conf = self
        self.set: Any = self.settings.__setitem__
        self.unset = self.settings.pop

    @property
    def getAll(self) -> dict[str, str]:  # noqa: N802 - as Spark has it
        return dict(self.settings)


def test_settings_holdmeanwhile():
    session = _Session(a="theirs", b="theirs")
    with meanwhile(session, {"a": "ours", "c": "ours"}):
        assert session.settings == {"a": "ours", "b": "theirs", "c": "ours"}
    assert session.settings == {"a": "theirs", "b": "theirs"}


def test_settings_go_after_an_error():
    session = _Session(a="theirs")
    with pytest.raises(ValueError, match="no query"), meanwhile(session, {"a": "ours", "c": ""}):
        raise ValueError("no query")
    assert session.settings == {"a": "theirs"}
