"""Keeps the libraries between this package and Spark's JVM out of a script's log."""

from __future__ import annotations

import logging

_LIBRARIES = ("py4j", "pyspark")


def quiet_libraries() -> None:
    """Let Spark's Python libraries log warnings only, unless the script has set their levels.

    At INFO they log each call from the JVM, in every script that logs at INFO itself.
    """
    for library in _LIBRARIES:
        logger = logging.getLogger(library)
        if logger.level == logging.NOTSET:
            logger.setLevel(logging.WARNING)
