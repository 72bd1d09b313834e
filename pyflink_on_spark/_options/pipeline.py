"""The options of a pipeline: its name, key groups, watermarks, chaining and serializers."""

from __future__ import annotations

from pyflink_on_spark._options.kinds import (
    at_least,
    boolean,
    choice,
    duration,
    integer,
    text,
    text_list,
    text_map,
)
from pyflink_on_spark._options.option import recorded, works

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
