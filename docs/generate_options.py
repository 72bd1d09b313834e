"""Writes options.md: every option that is declared in ``pyflink_on_spark._options``.

python docs/generate_options.py

A test in tests/docs fails if it is stale.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pyflink_on_spark._options import registry
from pyflink_on_spark._options.option import Effect, Option, OptionPrefix, option_text
from pyflink_on_spark._options.registry import MODULES, declared

DOCUMENT = Path(__file__).parent / "reference" / "options.md"
HEAD = """\
# Options

The keys of a `Configuration` that this package knows. An option has the meaning that it has in
Flink 2.3, unless the column *effect* says otherwise. A recorded option has no effect on Spark: a
job that sets another value than the default logs the reason once. Former keys are read when the key
itself is not set.

Options whose keys begin with `spark.` go to the Spark session. An unknown option whose key begins
with `pyflink-on-spark.` is an error. All other keys are the program's own.

This page is generated. To change it, change the declarations in
`pyflink_on_spark/_options/`, then run `python docs/generate_options.py`.
"""
SECTIONS = {
    "Execution": ("execution.", "parallelism.", "task.", "metrics.latency."),
    "Pipeline": ("pipeline.",),
    "Checkpoints, savepoints and recovery": (
        "execution.checkpointing.",
        "execution.state-recovery.",
        "pipeline.sources.",
    ),
    "State backends": ("state.",),
    "Restart strategies": ("restart-strategy.",),
    "Python": ("python.",),
    "File systems": ("s3.", "fs."),
    "Network": ("heartbeat.",),
    "Tables and SQL": ("table.",),
    "Operation": ("env.", "rest.", "jobstore.", "metrics."),
    "Options of this package": ("pyflink-on-spark.",),
}


def document() -> str:
    """Return the text of the page."""
    lines = [HEAD]
    sections: dict[str, list[str]] = {title: [] for title in SECTIONS}
    for module in MODULES:
        for option in declared(module):
            sections[_title(option)].append(_row(option))
    for title, rows in sections.items():
        lines += _section(title, rows)
    return "\n".join([*lines, *_families()])


def _title(option: Option[Any] | OptionPrefix) -> str:
    """Return the section with the longest prefix of an option's key."""
    key = option.prefix if isinstance(option, OptionPrefix) else option.key
    fitting = [
        (len(prefix), title)
        for title, prefixes in SECTIONS.items()
        for prefix in prefixes
        if key.startswith(prefix)
    ]
    return max(fitting)[1]


def _section(title: str, rows: list[str]) -> Iterator[str]:
    yield f"## {title}"
    yield ""
    yield "| key | type | default | effect on Spark | former and other keys |"
    yield "| --- | --- | --- | --- | --- |"
    yield from rows
    yield ""


def _row(option: Option[Any] | OptionPrefix) -> str:
    if isinstance(option, OptionPrefix):
        cells = [f"`{option.prefix}<{option.name}>`", "string", "", _effect(option.effect), ""]
    else:
        former = ", ".join(f"`{key}`" for key in option.former)
        kind = option.kind.replace(" | ", ", ")
        cells = [f"`{option.key}`", kind, _default(option), _effect(option.effect), former]
    return f"| {' | '.join(cells)} |"


def _default(option: Option[Any]) -> str:
    if option.default in (None, "", [], {}):
        return ""
    return f"`{option_text(option.store(option.default))}`"


def _effect(effect: Effect) -> str:
    if effect.recorded:
        return f"recorded: {effect.text}"
    if effect.needs is not None:
        return f"works with `{effect.needs.key}`; without it {effect.text}"
    return f"works: {effect.text}" if effect.text else "works"


def _families() -> Iterator[str]:
    yield "## All other options of Flink"
    yield ""
    yield "Other options that begin with a prefix of Flink's are recorded."
    yield ""
    yield "| keys that begin with | why they have no effect |"
    yield "| --- | --- |"
    reasons: dict[str, list[str]] = {}
    for prefix, reason in sorted(registry.FAMILIES.items()):
        reasons.setdefault(reason, []).append(f"`{prefix}`")
    for reason, prefixes in reasons.items():
        yield f"| {', '.join(prefixes)} | {reason} |"
    yield ""


if __name__ == "__main__":
    DOCUMENT.write_text(document(), encoding="utf-8")
