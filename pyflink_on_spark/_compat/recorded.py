"""Says in the log, once, that a setting is kept but does nothing on Spark."""

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
