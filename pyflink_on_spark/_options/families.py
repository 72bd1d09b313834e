"""The reasons for keys of Flink that are declared nowhere, by family."""

from __future__ import annotations

from pyflink_on_spark._options.checkpointing import ALIGNED, ONE_FILE
from pyflink_on_spark._options.state import OTHER_DATABASE

_NOT_READ = "nothing here reads it"
_CLUSTER = "Spark runs the job; the options spark.* configure its cluster"

FAMILIES: dict[str, str] = {
    **dict.fromkeys(
        (
            "akka.",
            "blob.",
            "client.",
            "cluster.",
            "heartbeat.",
            "high-availability",
            "historyserver.",
            "jobmanager.",
            "jobstore.",
            "kubernetes.",
            "pekko.",
            "queryable-state.",
            "resourcemanager.",
            "rest.",
            "slot.",
            "slotmanager.",
            "taskmanager.",
            "web.",
            "yarn.",
            "zookeeper.",
        ),
        _CLUSTER,
    ),
    **dict.fromkeys(
        (
            "execution.",
            "fs.",
            "io.",
            "parallelism.",
            "pipeline.",
            "python.",
            "restart-strategy",
            "s3.",
            "s3a.",
            "state.",
            "table.",
            "task.",
        ),
        _NOT_READ,
    ),
    "classloader.": "no Java class of the job is loaded",
    "env.": "Spark starts the JVMs; see spark.driver.extraJavaOptions and spark.executor.*",
    "metrics.": "no metric reporter of Flink runs here",
    "security.": "Spark's options say how its processes authenticate",
    "execution.batch.": "Spark schedules the tasks of a batch job",
    "execution.checkpointing.file-merging.": ONE_FILE.text,
    "execution.checkpointing.unaligned.": ALIGNED.text,
    "state.backend.rocksdb.": OTHER_DATABASE.text,
    "state.backend.forst.": OTHER_DATABASE.text,
    "state.changelog.": "changes are written with each checkpoint, not between checkpoints",
    "state.latency-track.": "no latency of state is measured",
}
"""Why undeclared keys that begin with a prefix have no effect; the longest prefix counts."""


def family_reason(key: str) -> str | None:
    """Return why a key that is declared nowhere has no effect; None for keys that are not Flink's.

    Args:
        key: the key, as it is in a configuration.
    """
    prefixes = [prefix for prefix in FAMILIES if key.startswith(prefix)]
    return FAMILIES[max(prefixes, key=len)] if prefixes else None
