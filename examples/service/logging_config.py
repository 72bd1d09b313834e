"""Logs of a script as JSON lines, for a collector of logs: import this first in the script."""

from __future__ import annotations

import json
import logging.config


class JsonLines(logging.Formatter):
    """A line of JSON for each record; records of workers have the operator in their text."""

    def format(self, record):
        told = {
            "time": self.formatTime(record),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            told["exception"] = self.formatException(record.exc_info)
        return json.dumps(told)


logging.config.dictConfig(
    {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": JsonLines}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
        "root": {"level": "INFO", "handlers": ["stderr"]},
        "loggers": {"py4j": {"level": "WARNING"}, "pyspark": {"level": "WARNING"}},
    }
)
