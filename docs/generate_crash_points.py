"""Writes crash_points.md: what happens to which process at which step, as the tests have it.

python docs/generate_crash_points.py

A test in tests/docs fails if it is stale.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.job.crash_points import (
    CASES,
    FAULTS,
    FAULTS_OF_HOSTS,
    STEPS_OF_HOSTS,
    WITHOUT,
    cells,
    chosen,
    excluded,
    excluded_in_hosts,
)

DOCUMENT = Path(__file__).parent / "develop" / "crash_points.md"
HEAD = """\
# Crash points

Each step of checkpoint, savepoint, commit, restore, drain, cancel and end has a name in the code
(`_runtime/checkpoints/checkpoint_files.py`). The tests let something happen to a process at each of
these steps, run the job to its end, and compare the output with that of a job to which nothing
happens: each record has to be there once. [Reliability](../operate/reliability.md) says what
a job does in such cases.

This page is generated from the table that the tests use (`tests/job/crash_points.py`). A step
that is new in the code and not in the table fails a test. To change this page, change the table,
then run `python docs/generate_crash_points.py`.

The tests run in one process with a virtual clock. Each ordinary run has {ordinary} of the {total}
cases, so that each step and each fault is among them. `tox -e faults` has all of them:

```bash
CRASH_POINTS=all python -m pytest -k test_steps tests/job tests/connectors
```

## Processes and faults

A *host* has the subtasks of some slots. A host is a Spark task, which runs in a Python worker of
an executor, so the death of the worker and that of the host are one event. An *executor* has
several hosts, and its end is the end of all of them at once: here, all hosts but one die, hang or
have no room on their disk, and the next attempt has one host. An error is an exception in one
process, so the columns of the executor have none.

| process | fault | what happens at the step |
| --- | --- | --- |
"""
MEANINGS = {
    ("driver", "kill", ""): "The driver dies. The program starts again from the newest checkpoint.",
    ("driver", "kill", "the third time"): "The same, when the step is done the third time.",
    ("driver", "error", ""): "The step raises an OSError.",
    ("driver", "hang", "with its hosts"): (
        "The driver hangs for a minute. Its hosts wait, and nobody takes over: the job continues."
    ),
    ("driver", "hang", "hosts end"): (
        "The driver hangs for a minute. Its hosts end after `heartbeat.timeout`."
    ),
    ("driver", "hang", "another one begins"): (
        "The program is started again meanwhile. When the first driver wakes up, the second one "
        "has taken over the job, and its hosts are there. A host of the second one is lost then, "
        "so that it needs the checkpoint again that it began with."
    ),
    ("driver", "hang", "another one takes a checkpoint"): (
        "The same, and the second driver has a checkpoint of its own."
    ),
    ("driver", "hang", "another one ends"): "The same, and the second driver has ended.",
    ("driver", "hang", "the older one takes a checkpoint"): (
        "A second driver is started although the first one is alive, and hangs while it starts. "
        "The first one completes another checkpoint, unless the second one has taken over the job."
    ),
    ("driver", "hang", "the older one ends"): "The same, and the first driver ends.",
    ("driver", "full disk", "once"): "The next write of the driver finds no space.",
    ("driver", "full disk", "for a while"): "All writes of the driver find no space for 0.6 s.",
    ("host", "kill", ""): "A host dies: the one that does the step, or any.",
    ("host", "error", ""): "A host fails.",
    ("host", "hang", "and is lost"): (
        "A host hangs and is lost after `heartbeat.timeout`. It wakes up beside the hosts of the "
        "next attempt, completes what it has begun, and processes some elements before it ends."
    ),
    ("host", "hang", "and continues"): (
        "A host hangs for a minute, which `heartbeat.timeout` allows. A checkpoint expires."
    ),
    ("host", "full disk", "once"): "The next write of the host finds no space.",
    ("host", "full disk", "for a while"): "All writes of the host find no space for 0.6 s.",
    ("executor", "kill", ""): "All hosts of a machine die.",
    ("executor", "hang", ""): "All hosts of a machine hang and are lost.",
    ("executor", "full disk", "for a while"): (
        "All writes of all hosts of a machine find no space for 0.6 s."
    ),
}
OUTPUTS = {
    "files": ("files, and a table by JDBC", "`tests/job/test_steps.py`"),
    "long files": (
        "the same, with part files that continue across checkpoints",
        "`tests/job/test_steps.py`",
    ),
    "kafka": ("Kafka, in transactions", "`tests/connectors/kafka/test_steps.py`"),
    "to_spark": ("`to_spark`", "`tests/connectors/spark_rows/test_steps.py`"),
    "rabbitmq": (
        "RabbitMQ as the source, to files and a table",
        "`tests/connectors/rabbitmq/test_steps.py`",
    ),
}
COLUMNS = tuple(dict.fromkeys((fault.process, fault.kind) for fault in FAULTS))


def document() -> str:
    """Return the text of the page."""
    total = sum(len(list(cells(without))) for without in WITHOUT.values())
    ordinary = sum(len(chosen(output, everything=False)) for output in WITHOUT)
    lines = [HEAD.format(total=total, ordinary=ordinary).rstrip("\n")]
    for fault in FAULTS:
        how = f", {fault.how}" if fault.how else ""
        meaning = MEANINGS[fault.process, fault.kind, fault.how]
        lines.append(f"| {fault.process} | {fault.kind}{how} | {meaning} |")
    lines += [*_steps(), *_outputs(), *_steps_of_hosts()]
    return "\n".join(lines) + "\n"


def _steps() -> Iterator[str]:
    yield from ("", "## Steps", "")
    yield "The numbers are those of the cases: the faults of the column, with each output."
    yield ""
    yield f"| step | {' | '.join(', '.join(column) for column in COLUMNS)} |"
    yield f"| --- | {' | '.join('---:' for _ in COLUMNS)} |"
    reasons: dict[str, int] = {}
    for step in CASES:
        yield f"| {step} | {' | '.join(_cell(step, column, reasons) for column in COLUMNS)} |"
    yield ""
    yield from (f"{number}. {why[0].upper()}{why[1:]}." for why, number in reasons.items())


def _cell(step: str, column: tuple[str, str], reasons: dict[str, int]) -> str:
    """Return the number of cases, and the number of the reason if some cannot happen."""
    faults = [fault for fault in FAULTS if (fault.process, fault.kind) == column]
    missing = [why for fault in faults if (why := excluded(step, fault)) is not None]
    outputs = [without for without in WITHOUT.values() if step not in without]
    count = (len(faults) - len(missing)) * len(outputs)
    marks = [f"({reasons.setdefault(why, len(reasons) + 1)})" for why in dict.fromkeys(missing)]
    return " ".join([str(count) if count else "-", *marks])


def _outputs() -> Iterator[str]:
    yield from ("", "## Outputs", "")
    yield "| output | tests | cases | without |"
    yield "| --- | --- | ---: | --- |"
    for name, (output, tests) in OUTPUTS.items():
        left_out = "; ".join(f"{step}: {why}" for step, why in WITHOUT[name].items())
        yield f"| {output} | {tests} | {len(list(cells(WITHOUT[name])))} | {left_out} |"
    yield ""
    yield "RabbitMQ's sink has no transactions, in Flink as here: its output is at least once."


def _steps_of_hosts() -> Iterator[str]:
    yield from ("", "## Steps of hosts alone", "")
    yield "`tests/spark/test_host_steps.py` has two hosts in threads, with their real connections."
    yield "The attempt has to end with an error that says why, and the next one has to work."
    yield ""
    yield f"| step | {' | '.join(', '.join(column) for column in FAULTS_OF_HOSTS)} |"
    yield f"| --- | {' | '.join('---' for _ in FAULTS_OF_HOSTS)} |"
    for step in STEPS_OF_HOSTS:
        found = [excluded_in_hosts(step, fault) or "yes" for fault in FAULTS_OF_HOSTS]
        yield f"| {step} | {' | '.join(found)} |"


if __name__ == "__main__":
    DOCUMENT.write_text(document(), encoding="utf-8")
