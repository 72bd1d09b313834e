"""The options of tables and SQL."""

from __future__ import annotations

from pyflink_on_spark.common._options.kinds import duration, integer, text
from pyflink_on_spark.common._options.option import recorded

_NO_LIMIT = recorded("Python has no limit for the length of a method")

BUILTIN_CATALOG = text("table.builtin-catalog-name", "default_catalog")
BUILTIN_DATABASE = text("table.builtin-database-name", "default_database")
LOCAL_TIME_ZONE = text("table.local-time-zone", "default")
CODE_LENGTH = integer("table.generated-code.max-length", 4000, effect=_NO_LIMIT)
DEFAULT_PARALLELISM = integer("table.exec.resource.default-parallelism", -1)
IDLE_TIMEOUT = duration("table.exec.source.idle-timeout", 0)
STATE_TTL = duration("table.exec.state.ttl", 0)
