"""The functions of Flink that are not there."""

from __future__ import annotations

from pyflink_on_spark._sql.errors import Span, not_yet

_INSTEAD = {
    "FROM_CHANGELOG": "Use from_changelog_stream of the table environment.",
    "TO_CHANGELOG": "Use to_changelog_stream of the table environment.",
    "OBJECT_OF": "Write it as a Python function.",
    "OBJECT_UPDATE": "Write it as a Python function.",
}


def refuse_missing(name: str, span: Span | None) -> None:
    """Raise UnsupportedFlinkFeature for a function that only Flink has.

    Args:
        name: of a function that is not there.
        span: where in a SQL text it is called.
    """
    instead = _INSTEAD.get(name.upper())
    if instead is not None:
        not_yet(f"the function {name.upper()}", span, instead)
