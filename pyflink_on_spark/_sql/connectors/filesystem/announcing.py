"""Options about what happens when a partition of files is complete."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._sql.connectors.options import (
    Option,
    boolean,
    duration,
    memory_size,
    one_of,
    text,
)
from pyflink_on_spark._sql.connectors.table import TableContext
from pyflink_on_spark._sql.errors import TableError

_POLICY = Option("sink.partition-commit.policy.kind", text)
_POLICY_CLASS = Option("sink.partition-commit.policy.class", text)
_SUCCESS_FILE = Option("sink.partition-commit.success-file.name", text, default="_SUCCESS")
_TRIGGER = Option(
    "sink.partition-commit.trigger",
    one_of("process-time", "partition-time"),
    default="process-time",
)
_DELAY = Option("sink.partition-commit.delay", duration, default=0)
_ZONE = Option("sink.partition-commit.watermark-time-zone", text, default="UTC")
_EXTRACTOR = Option("partition.time-extractor.kind", text, default="default")
_EXTRACTOR_CLASS = Option("partition.time-extractor.class", text)
_PATTERN = Option("partition.time-extractor.timestamp-pattern", text)
_FORMATTER = Option("partition.time-extractor.timestamp-formatter", text)
_COMPACTION = Option("auto-compaction", boolean, default=False)
_COMPACTED_SIZE = Option("compaction.file-size", memory_size)

OPTIONS = (
    _POLICY, _POLICY_CLASS, _SUCCESS_FILE, _TRIGGER, _DELAY, _ZONE, _EXTRACTOR, _EXTRACTOR_CLASS,
    _PATTERN, _FORMATTER, _COMPACTION, _COMPACTED_SIZE,
)  # fmt: skip


def success_file(context: TableContext) -> str | None:
    """Return the name of the file that is put into a complete partition, or None.

    In batch mode a table without partitions counts as one partition, but not in streaming mode.

    Raises:
        TableError: there is no such policy.
        UnsupportedFlinkFeature: it is not there yet.
    """
    options = context.options
    options.note(OPTIONS)
    if options[_COMPACTION]:
        _refuse(_COMPACTION, "files are not merged", "Leave it out, or let files roll later.")
    if not options.has(_POLICY):
        return None
    trigger, delay = options[_TRIGGER], options[_DELAY]
    kinds = [kind.strip().lower() for kind in options[_POLICY].split(",")]
    for kind in kinds:
        if kind == "custom":
            _refuse(_POLICY_CLASS, "there are no Java classes", "Use the policy 'success-file'.")
        if kind not in {"success-file", "metastore"}:
            raise TableError(f"Unsupported policy: {kind}")
    if not context.batch and (trigger != "process-time" or delay):
        _refuse(
            _TRIGGER if delay == 0 else _DELAY,
            "a partition counts as complete when its files are visible",
            "Leave it out: then the file comes with the files of each checkpoint.",
        )
    if "metastore" in kinds and not context.batch:
        raise TableError(
            "Can not configure a 'metastore' partition commit policy for a file system table. You "
            "can only configure 'metastore' partition commit policy for a hive table."
        )
    if not context.batch and not context.partition_by:
        return None
    return options[_SUCCESS_FILE] if "success-file" in kinds else None


def _refuse(option: Option[Any], reason: str, instead: str) -> None:
    raise_unsupported(f"'{option.key}'", kind=Gap.NOT_YET, reason=reason, instead=instead)
