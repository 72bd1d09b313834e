"""The options for operating jobs: where the log of a detached job goes, and what is in it."""

from __future__ import annotations

import logging

from pyflink_on_spark._options.kinds import at_least, choice, duration, integer, text
from pyflink_on_spark._options.option import OptionPrefix, works

LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "WARNING", "ERROR", "FATAL", "OFF")

_NAMES = {"TRACE": "DEBUG", "WARN": "WARNING", "FATAL": "CRITICAL"}


def level_number(name: str) -> int:
    """Return the number that ``logging`` has for a level of Flink's or Python's.

    Raises:
        ValueError: there is no such level.
    """
    upper = name.upper()
    if upper == "OFF":
        return logging.CRITICAL + 1
    levels = logging.getLevelNamesMapping()
    number = levels.get(_NAMES.get(upper, upper))
    if number is None:
        raise ValueError(f"{name!r} is no log level; use one of {', '.join(LEVELS)}")
    return number


LOG_DIRECTORY = text(
    "env.log.dir",
    None,
    effect=works("where `run -d` writes logs; default: the folder `log` in `~/.pyflink-on-spark`"),
)
LOG_LEVEL = choice(
    "env.log.level",
    LEVELS,
    None,
    effect=works(
        "what `python -m pyflink_on_spark` logs; default: INFO for `run`, WARN without it; a "
        "script that configures `logging` decides itself"
    ),
)
LOG_FILES = integer(
    "env.log.max",
    10,
    effect=works("how many older parts of the log of a detached job are kept"),
    check=at_least(1, "env.log.max must be at least one."),
)

REST_PORT = text(
    "rest.port",
    None,
    effect=works("where a driver serves Flink's REST API and its page; default: nowhere"),
)
REST_BIND_ADDRESS = text(
    "rest.bind-address",
    None,
    effect=works("default: 127.0.0.1; another address needs `pyflink-on-spark.rest.token`"),
)
JOBS_KEPT = integer(
    "jobstore.max-capacity",
    500,
    effect=works(
        "how many jobs that have ended `list -a` and `serve` know; up to a tenth more, until the "
        "oldest are removed"
    ),
    check=at_least(0, "jobstore.max-capacity must not be negative."),
)
JOBS_KEPT_FOR = duration(
    "jobstore.expiration-time",
    14 * 24 * 3_600_000,
    effect=works(
        "for how long `list -a` and `serve` know jobs that have ended, with the results of their "
        "savepoints; Flink's unit is the second"
    ),
)
REPORTERS = text(
    "metrics.reporters",
    None,
    effect=works("which of the configured reporters are used, with commas between; default: all"),
)
REPORTER = OptionPrefix(
    "metrics.reporter.",
    "reporter>.<option",
    effect=works(
        "`factory.class` and its options: Flink's factories for Prometheus (pull and push "
        "gateway), slf4j and StatsD; `interval`"
    ),
)
