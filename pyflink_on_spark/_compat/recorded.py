"""Says in the log, once each, which settings do nothing on Spark, and which calls are of old."""

from __future__ import annotations

import logging

_LOG = logging.getLogger(__name__)
_SAID: set[str] = set()


def note_recorded(what: str, instead: str) -> None:
    """Log that a setting has no effect here, the first time that it is made.

    Args:
        what: the setting, as the user made it.
        instead: why that is, or what to do.
    """
    if what not in _SAID:
        _SAID.add(what)
        _LOG.warning("%s is recorded, and has no effect on Spark: %s", what, instead)


def note_former(call: str, instead: str) -> None:
    """Log that a call is one of earlier releases, the first time that it is made.

    Args:
        call: the call, as users write it.
        instead: what has taken its place, as half a sentence.
    """
    if call not in _SAID:
        _SAID.add(call)
        _LOG.warning("%s is gone from later releases of PyFlink: %s", call, instead)
