"""Options about what happens when a partition of files is complete."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._connectors.files.time_zone import parse_time_zone
from pyflink_on_spark._sql.errors import TableError, ValidationError
from pyflink_on_spark._sql.plan.options import (
    Option,
    TableOptions,
    duration,
    one_of,
    text,
)
from pyflink_on_spark._sql.plan.ports import TableContext
from pyflink_on_spark._sql.tables.connectors.filesystem.partition_commits import (
    CommitTrigger,
    PartitionTimeTrigger,
    ProcessingTimeTrigger,
)
from pyflink_on_spark._sql.tables.connectors.filesystem.partition_time import PartitionTime

_POLICY = Option("sink.partition-commit.policy.kind", text)
_POLICY_CLASS = Option("sink.partition-commit.policy.class", text)
_POLICY_ARGUMENTS = Option("sink.partition-commit.policy.class.parameters", text)
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

OPTIONS = (
    _POLICY, _POLICY_CLASS, _POLICY_ARGUMENTS, _SUCCESS_FILE, _TRIGGER, _DELAY, _ZONE, _EXTRACTOR,
    _EXTRACTOR_CLASS, _PATTERN, _FORMATTER,
)  # fmt: skip


def success_file(context: TableContext) -> str | None:
    """Return the name of the file that is put into a complete partition, or None.

    In batch mode a table without partitions counts as one partition, but not in streaming mode.

    Raises:
        TableError: there is no such policy.
        UnsupportedFlinkFeature: the policy is a Java class.
    """
    options = context.options
    options.note(OPTIONS)
    if not options.has(_POLICY):
        return None
    kinds = [kind.strip().lower() for kind in options[_POLICY].split(",")]
    for kind in kinds:
        if kind == "custom":
            _refuse_class(_POLICY_CLASS, "Use the policy 'success-file'.")
        if kind not in {"success-file", "metastore"}:
            raise TableError(f"Unsupported policy: {kind}")
    if "metastore" in kinds and not context.batch:
        raise TableError(
            "Can not configure a 'metastore' partition commit policy for a file system table. You "
            "can only configure 'metastore' partition commit policy for a hive table."
        )
    if not context.batch and not context.partition_by:
        return None
    return options[_SUCCESS_FILE] if "success-file" in kinds else None


def commit_trigger(options: TableOptions) -> CommitTrigger:
    """Return what says when a partition is complete.

    Raises:
        UnsupportedFlinkFeature: times are read by a Java class.
    """
    delay = options[_DELAY]
    if options[_TRIGGER] == "process-time":
        return ProcessingTimeTrigger(delay)
    kind = options[_EXTRACTOR]
    if kind == "custom":
        _refuse_class(_EXTRACTOR_CLASS, f"Describe the times with '{_PATTERN.key}'.")
    if kind != "default":
        raise TableError(f"Unsupported extractor kind: {kind}")
    time = PartitionTime(options[_PATTERN], options[_FORMATTER], options[_ZONE])
    return PartitionTimeTrigger(delay, time)


def check_time_zone(options: TableOptions) -> None:
    """Check the time zone of watermarks.

    Raises:
        ValidationError: there is no such time zone.
    """
    try:
        parse_time_zone(options[_ZONE])
    except ValueError:
        raise ValidationError(
            f"Invalid time zone for '{_ZONE.key}'. The value should be a Time Zone Database (TZDB) "
            "ID such as 'America/Los_Angeles' to include daylight saving time. Fixed offsets are "
            "supported using 'GMT-03:00' or 'GMT+03:00'. Or use 'UTC' without time zone and "
            "daylight saving time."
        ) from None


def _refuse_class(option: Option[Any], instead: str) -> None:
    raise_unsupported(
        f"'{option.key}'", kind=Gap.NEVER, reason="there are no Java classes", instead=instead
    )
