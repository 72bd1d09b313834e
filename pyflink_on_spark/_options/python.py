"""The options of Python workers: what they import, and how they run functions."""

from __future__ import annotations

from pyflink_on_spark._options.option import (
    boolean,
    choice,
    integer,
    long,
    recorded,
    text,
    text_map,
    works,
)

_NO_BUNDLES = recorded(
    "functions run where the elements are read, without bundles to and from a JVM"
)
_STATE_IN_PYTHON = recorded("state is in the process that runs the function")
_DRIVER = recorded("the script itself is the driver, in the interpreter that started it")

FILES = text("python.files", "")
ARCHIVES = text("python.archives", "")
REQUIREMENTS = text("python.requirements", "")
EXECUTABLE = text(
    "python.executable",
    None,
    effect=works("counts when the first job of a process starts Spark; default: Spark's choice"),
)
PYTHON_PATH = text(
    "python.pythonpath", None, effect=recorded("name modules and folders in python.files")
)
OPERATOR_CHAINING = boolean("python.operator-chaining.enabled", True)
METRICS = boolean("python.metric.enabled", True)
STATE_CACHE_SIZE = integer(
    "python.state.cache-size",
    1000,
    effect=works("0 converts each value to its declared type when it is written"),
)

BUNDLE_SIZE = integer(
    "python.fn-execution.bundle.size",
    1000,
    effect=works(
        "after so many rows aggregate functions of tables update their groups; a size below "
        "`pyflink-on-spark.watermark-interval-elements` lets watermarks of bounded jobs follow "
        "the auto-watermark interval; there are no bundles to and from a JVM"
    ),
)
BUNDLE_TIME = long(
    "python.fn-execution.bundle.time",
    1000,
    effect=works(
        "the time in ms after which aggregate functions of tables update their groups, and a "
        "bounded job with slow functions emits a watermark"
    ),
)
ARROW_BATCH_SIZE = integer("python.fn-execution.arrow.batch.size", 1000, effect=_NO_BUNDLES)
MANAGED_MEMORY = boolean(
    "python.fn-execution.memory.managed",
    True,
    effect=recorded("Spark's options bound the memory of Python workers"),
)
EXECUTION_MODE = choice(
    "python.execution-mode",
    ("PROCESS", "THREAD"),
    "PROCESS",
    effect=recorded("functions run in Python processes"),
)
MAP_STATE_BATCH = integer(
    "python.map-state.iterate-response-batch-size", 1000, effect=_STATE_IN_PYTHON
)
MAP_STATE_READ_CACHE = integer("python.map-state.read-cache-size", 1000, effect=_STATE_IN_PYTHON)
MAP_STATE_WRITE_CACHE = integer("python.map-state.write-cache-size", 1000, effect=_STATE_IN_PYTHON)
PROFILE = boolean(
    "python.profile.enabled",
    False,
    effect=recorded("functions are not profiled"),
)
SYSTEM_ENVIRONMENT = boolean(
    "python.systemenv.enabled",
    True,
    effect=recorded("workers have the environment of the Spark process that starts them"),
)
CLIENT_EXECUTABLE = text("python.client.executable", "python", effect=_DRIVER)
JOB_OPTIONS = text_map("python.job-options", effect=_DRIVER)
LOGGING_LEVEL = text(
    "python.logging.default.level",
    "INFO",
    effect=works("what functions log at this level and above is in the driver's log"),
)
LOGGING_LEVELS = text_map(
    "python.logging.level.overrides", effect=works("the level of a logger by its name")
)
