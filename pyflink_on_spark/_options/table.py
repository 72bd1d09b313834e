"""The options of tables and SQL."""

from __future__ import annotations

from pyflink_on_spark._options.kinds import at_least, boolean, choice, duration, integer, text
from pyflink_on_spark._options.option import recorded

_NO_LIMIT = recorded("Python has no limit for the length of a method")

BUILTIN_CATALOG = text("table.builtin-catalog-name", "default_catalog")
BUILTIN_DATABASE = text("table.builtin-database-name", "default_database")
LOCAL_TIME_ZONE = text("table.local-time-zone", "default")
CODE_LENGTH = integer("table.generated-code.max-length", 4000, effect=_NO_LIMIT)
DEFAULT_PARALLELISM = integer("table.exec.resource.default-parallelism", -1)
INTERVAL_JOIN_CLEANUP = duration("table.exec.interval-join.min-cleanup-interval", 0)
IDLE_TIMEOUT = duration("table.exec.source.idle-timeout", 0)
STATE_TTL = duration("table.exec.state.ttl", 0)
FORCE_RECOMPILE = boolean("table.plan.force-recompile", False)

ASYNC_CAPACITY = integer(
    "table.exec.async-scalar.max-concurrent-operations",
    10,
    former=("table.exec.async-scalar.buffer-capacity",),
    check=at_least(1, "One call at least has to be in flight."),
)
ASYNC_TIMEOUT = duration("table.exec.async-scalar.timeout", 180_000)
ASYNC_RETRIES = choice(
    "table.exec.async-scalar.retry-strategy", ("NO_RETRY", "FIXED_DELAY"), "FIXED_DELAY"
)
ASYNC_DELAY = duration("table.exec.async-scalar.retry-delay", 100)
ASYNC_ATTEMPTS = integer("table.exec.async-scalar.max-attempts", 3)
