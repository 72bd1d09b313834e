"""What ``python -m pyflink_on_spark`` logs to standard error, where a script decides nothing."""

from __future__ import annotations

import logging
from typing import Any

from pyflink_on_spark._job.submission.base_configuration import base_configuration
from pyflink_on_spark._options.operation import LOG_LEVEL, level_number

_FORMAT = "%(asctime)s %(levelname)-7s %(name)s - %(message)s"


class _UnlessConfigured(logging.StreamHandler[Any]):
    """Writes to standard error, as long as the script has not configured ``logging`` itself."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record."""
        if not logging.getLogger().handlers:
            super().emit(record)


def configure_driver_log(default: str | None) -> None:
    """Log with times, at the level of ``env.log.level``.

    Args:
        default: the level if the option is not set; None for that of the root logger, which is
            WARNING unless the script sets another.
    """
    level = LOG_LEVEL.read(base_configuration()) or default
    logger = logging.getLogger("pyflink_on_spark")
    if not any(isinstance(handler, _UnlessConfigured) for handler in logger.handlers):
        handler = _UnlessConfigured()
        handler.setFormatter(logging.Formatter(_FORMAT))
        logger.addHandler(handler)
    logger.setLevel(logging.NOTSET if level is None else level_number(level))
