"""Flink's options of execution, pipelines, tables, file systems, network and operation."""

from __future__ import annotations

import logging

from pyflink_on_spark._options.option import (
    Option,
    OptionPrefix,
    at_least,
    boolean,
    choice,
    duration,
    integer,
    memory,
    recorded,
    text,
    text_list,
    text_map,
    works,
)

BATCH, STREAMING, AUTOMATIC = "BATCH", "STREAMING", "AUTOMATIC"
_SPARK_SCHEDULES = recorded("Spark schedules and stops the tasks")
_BUFFERS = recorded(
    "a buffer is sent when it is full or its subtask is idle, or after about 100 ms"
)
_SPARK_SORTS = recorded("Spark sorts and exchanges the rows of a batch job")

RUNTIME_MODE = choice("execution.runtime-mode", (STREAMING, BATCH, AUTOMATIC), STREAMING)
PARALLELISM = integer(
    "parallelism.default",
    -1,
    effect=works("-1 is the number of cores of the driver's machine"),
    check=at_least(
        1,
        "Parallelism must be at least one, or ExecutionConfig.PARALLELISM_DEFAULT "
        "(use system default).",
        unset=-1,
    ),
)

BUFFER_TIMEOUT = duration(
    "execution.buffer-timeout.interval",
    100,
    former=("execution.buffer-timeout",),
    effect=_BUFFERS,
)
BUFFER_TIMEOUT_ENABLED = boolean("execution.buffer-timeout.enabled", True, effect=_BUFFERS)

BATCH_SHUFFLE = text("execution.batch-shuffle-mode", "ALL_EXCHANGES_BLOCKING", effect=_SPARK_SORTS)
SORTED_INPUTS = boolean("execution.sorted-inputs.enabled", True, effect=_SPARK_SORTS)
SORTED_INPUTS_MEMORY = memory("execution.sorted-inputs.memory", 128 * 1024**2, effect=_SPARK_SORTS)
SORT_PARTITION_MEMORY = memory(
    "execution.sort-partition.memory", 128 * 1024**2, effect=_SPARK_SORTS
)
SORT_KEYED_PARTITION_MEMORY = memory(
    "execution.sort-keyed-partition.memory", 128 * 1024**2, effect=_SPARK_SORTS
)
BATCH_STATE_BACKEND = boolean(
    "execution.batch-state-backend.enabled",
    True,
    effect=recorded("a batch job keeps the state of one key at a time"),
)
TARGET = text(
    "execution.target", None, effect=recorded("jobs run on the Spark that spark.master names")
)
ATTACHED = boolean(
    "execution.attached", False, effect=recorded("execute() waits, execute_async() does not")
)

CANCELLATION_INTERVAL = duration(
    "task.cancellation.interval",
    30_000,
    former=("task.cancellation-interval",),
    effect=_SPARK_SCHEDULES,
)
CANCELLATION_TIMEOUT = duration(
    "task.cancellation.timeout",
    180_000,
    effect=_SPARK_SCHEDULES,
    check=at_least(0, "Timeout needs to be >= 0."),
)
LATENCY_INTERVAL = duration(
    "metrics.latency.interval", 0, effect=recorded("latencies are in the Spark UI")
)


HEARTBEAT_INTERVAL = duration(
    "heartbeat.interval",
    10_000,
    effect=works("how often the driver asks each host of a streaming job whether it is alive"),
    check=at_least(1, "The heartbeat interval must be positive."),
)
HEARTBEAT_TIMEOUT = duration(
    "heartbeat.timeout",
    50_000,
    effect=works(
        "after which silence a host, or the driver, counts as lost; a slow function is no silence, "
        "unless it is native code that keeps Python's interpreter lock"
    ),
    check=at_least(1, "The heartbeat timeout must be positive."),
)


_NO_LIMIT = recorded("Python has no limit for the length of a method")

BUILTIN_CATALOG = text("table.builtin-catalog-name", "default_catalog")
BUILTIN_DATABASE = text("table.builtin-database-name", "default_database")
LOCAL_TIME_ZONE = text("table.local-time-zone", "default")
CODE_LENGTH = integer("table.generated-code.max-length", 4000, effect=_NO_LIMIT)
DEFAULT_PARALLELISM = integer("table.exec.resource.default-parallelism", -1)
INTERVAL_JOIN_CLEANUP = duration("table.exec.interval-join.min-cleanup-interval", 0)
IDLE_TIMEOUT = duration("table.exec.source.idle-timeout", 0)
STATE_TTL = duration("table.exec.state.ttl", 0)
UPSERT_MATERIALIZE = choice("table.exec.sink.upsert-materialize", ("NONE", "AUTO", "FORCE"), "AUTO")
REQUIRE_ON_CONFLICT = boolean("table.exec.sink.require-on-conflict", True)
_ONE_LIST = recorded("the rows of a primary key are one list, whatever its length")
MATERIALIZE_STRATEGY = choice(
    "table.exec.sink.upsert-materialize-strategy.type",
    ("LEGACY", "MAP", "VALUE", "ADAPTIVE"),
    "LEGACY",
    effect=_ONE_LIST,
)
MATERIALIZE_LOW = integer(
    "table.exec.sink.upsert-materialize-strategy.adaptive.threshold.low", None, effect=_ONE_LIST
)
MATERIALIZE_HIGH = integer(
    "table.exec.sink.upsert-materialize-strategy.adaptive.threshold.high", None, effect=_ONE_LIST
)
_REFUSED = works("a query that groups a stream by windows is refused with it")
EARLY_FIRE = boolean("table.exec.emit.early-fire.enabled", False, effect=_REFUSED)
LATE_FIRE = boolean("table.exec.emit.late-fire.enabled", False, effect=_REFUSED)
ALLOWED_LATENESS = duration("table.exec.emit.allow-lateness", 0, effect=_REFUSED)
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


_NO_JAVA_TYPES = recorded("records are Python objects, which need no Java serializer")
_NO_JARS = recorded("name jars for Spark in the option spark.jars")
_TASK_NAMES = works("changes the names of tasks; operators that need no exchange run together")
_NO_VERTEX_NAMES = recorded("tasks and stages have the names that Spark gives them")
_NO_ALIGNMENT = recorded("the sources of a job are read in turns")

NAME = text("pipeline.name", None)
MAX_PARALLELISM = integer(
    "pipeline.max-parallelism",
    -1,
    effect=works("-1 is 128 key groups, or more where the parallelism needs more"),
    check=at_least(1, "The maximum parallelism must be greater than 0."),
)
AUTO_WATERMARK_INTERVAL = duration(
    "pipeline.auto-watermark-interval",
    200,
    effect=works(
        "0 switches periodic watermarks off; an unbounded job emits one in each interval, a "
        "bounded one after `pyflink-on-spark.watermark-interval-elements`, or, where its functions "
        "are slow, after the interval, at least `python.fn-execution.bundle.time`"
    ),
    check=at_least(0, "Auto watermark interval must not be negative."),
)
OBJECT_REUSE = boolean(
    "pipeline.object-reuse",
    False,
    effect=recorded("operators of a chain share elements in either case", harmless=(True,)),
)
GLOBAL_JOB_PARAMETERS = text_map("pipeline.global-job-parameters")
AUTO_GENERATE_UIDS = boolean("pipeline.auto-generate-uids", True)
OPERATOR_CHAINING = boolean(
    "pipeline.operator-chaining.enabled",
    True,
    former=("pipeline.operator-chaining",),
    effect=_TASK_NAMES,
)
MIXED_CHAINING = boolean(
    "pipeline.operator-chaining.chain-operators-with-different-max-parallelism",
    True,
    effect=recorded("only the names of tasks depend on chaining"),
)

CLOSURE_CLEANER_LEVEL = choice(
    "pipeline.closure-cleaner-level",
    ("RECURSIVE", "TOP_LEVEL", "NONE"),
    "RECURSIVE",
    effect=_NO_JAVA_TYPES,
)
FORCE_KRYO = boolean("pipeline.force-kryo", False, effect=_NO_JAVA_TYPES)
FORCE_AVRO = boolean("pipeline.force-avro", False, effect=_NO_JAVA_TYPES)
FORCE_KRYO_AVRO = boolean("pipeline.force-kryo-avro", False, effect=_NO_JAVA_TYPES)
GENERIC_TYPES = boolean("pipeline.generic-types", True, effect=_NO_JAVA_TYPES)
AUTO_TYPE_REGISTRATION = boolean("pipeline.auto-type-registration", True, effect=_NO_JAVA_TYPES)
KRYO_TYPES = text_list("pipeline.registered-kryo-types", effect=_NO_JAVA_TYPES)
POJO_TYPES = text_list("pipeline.registered-pojo-types", effect=_NO_JAVA_TYPES)
SERIALIZATION_CONFIG = text("pipeline.serialization-config", None, effect=_NO_JAVA_TYPES)

JARS = text("pipeline.jars", "", effect=_NO_JARS)
CLASSPATHS = text("pipeline.classpaths", "", effect=_NO_JARS)
CACHED_FILES = text(
    "pipeline.cached-files",
    None,
    effect=recorded("Python functions have no distributed cache; python.archives sends files"),
)
VERTEX_DESCRIPTION = text("pipeline.vertex-description-mode", "TREE", effect=_NO_VERTEX_NAMES)
VERTEX_INDEX = boolean("pipeline.vertex-name-include-index-prefix", False, effect=_NO_VERTEX_NAMES)
PARALLELISM_OVERRIDES = text_map(
    "pipeline.jobvertex-parallelism-overrides",
    effect=recorded("set_parallelism() sets the parallelism of an operator"),
)
UNALIGNED_SPLITS = boolean(
    "pipeline.watermark-alignment.allow-unaligned-source-splits", False, effect=_NO_ALIGNMENT
)
ALIGNMENT_BUFFER = integer("pipeline.watermark-alignment.buffer-size", 3, effect=_NO_ALIGNMENT)


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


_S3_PREFIXES = ("s3.", "s3a.", "fs.s3.", "fs.s3a.")


def _s3_keys(*names: str) -> tuple[str, tuple[str, ...]]:
    """Return the key of an option of S3, and its other spellings."""
    first, *others = (prefix + name for prefix in _S3_PREFIXES for name in names)
    return first, tuple(others)


def _s3_text(*names: str) -> Option[str | None]:
    key, others = _s3_keys(*names)
    return text(key, None, former=others)


def _s3_flag(default: bool, *names: str) -> Option[bool]:
    key, others = _s3_keys(*names)
    return boolean(key, default, former=others)


S3_ACCESS_KEY = _s3_text("access-key", "access.key")
S3_SECRET_KEY = _s3_text("secret-key", "secret.key")
S3_SESSION_TOKEN = _s3_text("session-token", "session.token")
S3_ENDPOINT = _s3_text("endpoint")
S3_REGION = _s3_text("region", "endpoint.region")
S3_PATH_STYLE = _s3_flag(False, "path.style.access", "path-style-access")
S3_SSL = _s3_flag(True, "connection.ssl.enabled")

OSS_ENDPOINT = text("fs.oss.endpoint", None)
OSS_KEY = text("fs.oss.accessKeyId", None)
OSS_SECRET = text("fs.oss.accessKeySecret", None)
OSS_TOKEN = text("fs.oss.securityToken", None)

AZURE_ACCOUNT_KEY = OptionPrefix("fs.azure.account.key.", "account")
