"""The options of this package. Their keys begin with ``pyflink-on-spark.``."""

from __future__ import annotations

from pyflink_on_spark._options.option import (
    at_least,
    boolean,
    check_ports,
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


def _check_place_of_key(value: str | None) -> None:
    if value is not None and not value.startswith(("env:", "file:/")):
        raise ValueError(
            "pyflink-on-spark.checkpoint-key names the place of a key, file:///PATH or env:NAME, "
            "and never is the key itself."
        )


PREFIX = "pyflink-on-spark."

CHECKPOINT_ELEMENTS = integer(
    "pyflink-on-spark.checkpoint-elements",
    None,
    effect=works("how many elements each source subtask reads between two checkpoints at most"),
    check=at_least(1, "The number of elements between checkpoints must be at least one."),
)
CHECKPOINT_PERMISSIONS = choice(
    "pyflink-on-spark.checkpoint-permissions",
    ("PRIVATE", "UMASK"),
    "PRIVATE",
    effect=works(
        "who may read local files of checkpoints and savepoints. PRIVATE: the user of the "
        "processes only; UMASK: those whom the umask of the processes allows, for a driver and "
        "hosts of different users"
    ),
)
CHECKPOINT_KEY = text(
    "pyflink-on-spark.checkpoint-key",
    None,
    effect=works(
        "where the driver finds the key that signs checkpoints and savepoints: file:///PATH or "
        "env:NAME, never the key itself. A job with a key begins only with what the key has signed"
    ),
    check=_check_place_of_key,
)
MAX_RECORD_SIZE = memory(
    "pyflink-on-spark.max-record-size",
    1024 * 1024 * 1024,
    effect=works(
        "how many bytes a line of a text or CSV file, or of the JSON files of a table, may have "
        "after decompression, likewise a block of Avro, a column of a row group of Parquet and a "
        "compressed block of ORC; a larger one fails the job before it fills the memory"
    ),
    check=at_least(1, "A record must be allowed at least one byte."),
)
MAX_TEXT_LENGTH = integer(
    "pyflink-on-spark.max-text-length",
    256 * 1024 * 1024,
    effect=works(
        "how many characters a text may have that REPEAT, LPAD, RPAD, REPLACE, REGEXP_REPLACE, "
        "PRINTF, LISTAGG or CAST to CHAR or BINARY make; a longer one fails the job before it "
        "fills the memory"
    ),
    check=at_least(1, "A text must be allowed at least one character."),
)
REGEX_TIMEOUT = duration(
    "pyflink-on-spark.regex-timeout",
    10_000,
    effect=works(
        "how much time of the processor SQL may take to match a regular expression, or SIMILAR "
        "TO, with one text; then the job fails"
    ),
    check=at_least(1, "A regular expression must be allowed at least one millisecond."),
)
HOSTS = integer(
    "pyflink-on-spark.hosts",
    None,
    effect=works(
        "how many Spark tasks run the subtasks of a streaming job; default: as many as there are "
        "free processors, at most one for each slot"
    ),
    check=at_least(1, "A job needs at least one host."),
)
ENGINE = choice(
    "pyflink-on-spark.engine",
    ("AUTO", "HOSTS", "STRUCTURED"),
    "AUTO",
    effect=works(
        "what runs a streaming job: `hosts`, long-running Spark tasks with a latency of "
        "milliseconds; `structured`, a query of Structured Streaming that needs nothing but Spark; "
        "`auto`: `structured` on Spark Connect and where `pyflink-on-spark.hosts-allowed` rules "
        "out hosts, otherwise `hosts`"
    ),
)
HOSTS_ALLOWED = choice(
    "pyflink-on-spark.hosts-allowed",
    ("AUTO", "YES", "NO"),
    "AUTO",
    effect=works(
        "whether Spark's tasks may live as long as a job, and open sockets. NO: streaming jobs run "
        "on the engine `structured`, and jobs in BATCH mode send nothing to the driver but by "
        "Spark; AUTO: on a cluster, a task of Spark's tries for the first job whether it reaches "
        "the driver and can listen; YES: nobody tries. In `spark-defaults.conf`, "
        "`spark.pyflink-on-spark.hosts-allowed NO` holds for all programs"
    ),
)
WAITING_FUNCTIONS = choice(
    "pyflink-on-spark.waiting-functions",
    ("AUTO", "THREAD", "INLINE"),
    "AUTO",
    effect=works(
        "where the functions of a task of a streaming job run. AUTO: a task gets a thread of its "
        "own when its functions are seen to wait, for example for a database; THREAD: each task "
        "has one from the start, and its functions are opened there; INLINE: all tasks of a host "
        "share one"
    ),
)
DRIVER_PORTS = text(
    "pyflink-on-spark.driver-ports",
    "0",
    effect=works(
        "on which ports the driver listens for hosts and results, such as 50100-50200; it takes "
        "two, and one more for each further job; 0: any free port"
    ),
    check=check_ports,
)
COMMAND_TIMEOUT = duration(
    "pyflink-on-spark.command-timeout",
    3_600_000,
    effect=works(
        "how long the driver waits for hosts to open or close functions, or to carry out another "
        "order; then the attempt fails. A host whose process is stuck is noticed by its heartbeat"
    ),
)
CONNECT_TIMEOUT = duration(
    "pyflink-on-spark.connect-timeout",
    60_000,
    effect=works(
        "how long a job on Spark Connect waits for a server that does not answer; then it ends, "
        "without a restart. Its query may still run there"
    ),
    check=at_least(0, "The time to wait for a server must not be negative."),
)
COMMIT_TIMEOUT = duration(
    "pyflink-on-spark.commit-timeout",
    0,
    effect=works(
        "how long the driver waits for a sink to commit; then the job ends without a restart. A "
        "checkpoint that is not committed stays, so that a job that is restored from it commits "
        "it; in BATCH, what the sink has prepared stays. 0: without limit"
    ),
    check=at_least(0, "The time for a commit must not be negative."),
)
HOST_PORTS = text(
    "pyflink-on-spark.host-ports",
    "0",
    effect=works("on which ports hosts listen for each other, such as 50100-50200; 0: any"),
    check=check_ports,
)
WATERMARK_INTERVAL_ELEMENTS = integer(
    "pyflink-on-spark.watermark-interval-elements",
    10_000,
    effect=works(
        "after how many elements a periodic watermark is emitted in a bounded job; 0: only at the "
        "end"
    ),
    check=at_least(0, "The number of elements between watermarks must not be negative."),
)
PROGRESS = choice(
    "pyflink-on-spark.progress",
    ("AUTO", "ON", "OFF"),
    "AUTO",
    effect=works(
        "whether a job that takes more than two seconds shows a line of progress; AUTO: in a "
        "terminal or a notebook, unless the program iterates over its results"
    ),
)
SAVEPOINT_ON_SIGNAL = boolean(
    "pyflink-on-spark.savepoint-on-signal",
    False,
    effect=works(
        "whether Ctrl-C and SIGTERM stop a job with a savepoint in "
        "`execution.checkpointing.savepoint-dir`"
    ),
)
REST_TOKEN = text(
    "pyflink-on-spark.rest.token",
    None,
    effect=works(
        "what clients of the REST API send as `Authorization: Bearer TOKEN`, or as a password"
    ),
)
REST_CERTIFICATE = text(
    "pyflink-on-spark.rest.certificate",
    None,
    effect=works("the PEM file with the certificate of the REST API, which then has TLS"),
)
REST_KEY = text(
    "pyflink-on-spark.rest.key",
    None,
    effect=works("the PEM file with the key of `pyflink-on-spark.rest.certificate`"),
)
REST_SAVEPOINT_FOLDERS = text_list(
    "pyflink-on-spark.rest.savepoint-folders",
    effect=works(
        "the folders below which requests may write and remove savepoints, by their URIs; without "
        "any, all folders. The folder `execution.checkpointing.savepoint-dir` need not be among "
        "them for savepoints that name no folder"
    ),
)
REST_LINGER = duration(
    "pyflink-on-spark.rest.linger",
    10_000,
    effect=works(
        "how long a driver whose script has ended waits at most for clients of the REST API to ask "
        "for the results of their savepoints"
    ),
)
LOG_SIZE = memory(
    "pyflink-on-spark.log.max-size",
    100 * 1024**2,
    effect=works("how long the log of a detached job becomes before it is rotated"),
)
HEARTBEAT = duration(
    "pyflink-on-spark.log.heartbeat-interval",
    60_000,
    effect=works("how often a job logs its rate, watermark lag and backlog; 0: never"),
)
REFUSE, TAKE, DROP = "REFUSE", "TAKE", "DROP"
CHANGED_STATE = choice(
    "pyflink-on-spark.changed-state",
    (REFUSE, TAKE, DROP),
    REFUSE,
    effect=works(
        "what happens if an operator finds state in a checkpoint or savepoint that means something "
        "else than its own, such as the sum of another column; REFUSE: the job does not start; "
        "TAKE: the operator continues with it; DROP: the operator starts empty"
    ),
)
MAX_STATE_SIZE = integer(
    "pyflink-on-spark.checkpoint-storage.max-state-size",
    5 * 1024**2,
    effect=works("how many bytes of state a subtask may have in a checkpoint in memory"),
)

# Flink 1.x keeps these outside of its options. Here each has a key, so that one configuration
# holds everything.
_FLINK_1 = "kept for a setter of Flink 1.x"
EXECUTION_MODE = choice(
    "pyflink-on-spark.execution-mode",
    ("PIPELINED", "PIPELINED_FORCED", "BATCH", "BATCH_FORCED"),
    "PIPELINED",
    effect=recorded(f"{_FLINK_1}; Spark schedules the tasks"),
)
INPUT_DEPENDENCY = choice(
    "pyflink-on-spark.input-dependency-constraint",
    ("ANY", "ALL"),
    "ANY",
    effect=recorded(f"{_FLINK_1}; Spark schedules the tasks"),
)
DEFAULT_KRYO_SERIALIZERS = text_map(
    "pyflink-on-spark.default-kryo-serializers",
    effect=recorded(f"{_FLINK_1}; records are Python objects"),
)
TYPES_WITH_KRYO_SERIALIZERS = text_map(
    "pyflink-on-spark.types-with-kryo-serializers",
    effect=recorded(f"{_FLINK_1}; records are Python objects"),
)
