"""Writes compatibility.md: how each public name of PyFlink fares on Spark.

python docs/generate_compatibility.py

A test in tests/docs fails if it is stale.

The names come from tests/api/pyflink_names.json, their states from this package's own markers and
``On Spark:`` sections, and what is known to be wrong from compat_tests/not_yet.toml.
"""

from __future__ import annotations

import enum
import importlib
import inspect
import json
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pyflink_on_spark._compat.unsupported import Gap, unsupported
from pyflink_on_spark.common.io import InputFormat
from pyflink_on_spark.datastream.connectors import Sink, Source
from pyflink_on_spark.datastream.connectors.file_system import BulkFormat, StreamFormat
from pyflink_on_spark.datastream.functions import SinkFunction, SourceFunction
from pyflink_on_spark.tools.check.verdict import WORKS, Status, Verdict, judge

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = Path(__file__).parent / "reference" / "compatibility.md"
NAMES = json.loads((ROOT / "tests/api/pyflink_names.json").read_text(encoding="utf-8"))
WRONG = tomllib.loads((ROOT / "compat_tests/not_yet.toml").read_text(encoding="utf-8"))

# What a job can be given. A module that has some of these, none of which works, is of no use yet.
USABLE = (Source, Sink, SourceFunction, SinkFunction, InputFormat, StreamFormat, BulkFormat)
SCHEMA_METHODS = ("_serializer", "_deserializer")

HEAD = """\
# Compatibility with PyFlink

**{percentage} % of PyFlink's public names work on Spark**: {usable:,} of {all:,}. These are the
names that PyFlink 1.13 to 2.3 have in `pyflink.common`, `pyflink.dataset`, `pyflink.datastream`,
`pyflink.metrics`, `pyflink.table` and `pyflink.util`. All of them can be imported and have
PyFlink's signatures. The [last section](#releases) says which names some of these releases lack.

| state | names | what it means |
| --- | ---: | --- |
| works | {works:,} | as in PyFlink |
| differs | {differs:,} | runs with a difference, which the note describes |
| not yet | {not_yet:,} | planned; using the name raises `UnsupportedFlinkFeature` |
| never | {never:,} | needs Flink's JVM; using the name raises `UnsupportedFlinkFeature` |

The percentage counts the names that work or differ. Each name counts once, however often it is
used. `python -m pyflink_on_spark check script.py` reports on one script.

This page is generated, and a test fails when it is stale: run
`python docs/generate_compatibility.py`.
"""


def document() -> str:
    """Return the text of the page."""
    verdicts = all_verdicts()
    count = Counter(verdict.status for names in verdicts.values() for verdict in names.values())
    total = sum(count.values())
    usable = count[Status.WORKS] + count[Status.DIFFERS]
    head = HEAD.format(
        percentage=100 * usable // total,
        usable=usable,
        all=total,
        works=count[Status.WORKS],
        differs=count[Status.DIFFERS],
        not_yet=count[Status.NOT_YET],
        never=count[Status.NEVER],
    )
    parts = [head, *_wrong(), "## Names", ""]
    for module, names in verdicts.items():
        parts += _section(module, names)
    parts += _releases()
    return "\n".join(parts)


def all_verdicts() -> dict[str, dict[str, Verdict]]:
    """Return the verdict on each name, by the module that defines it."""
    return {module: _verdicts(module, names) for module, names in NAMES.items()}


def _verdicts(module: str, names: dict[str, Any]) -> dict[str, Verdict]:
    verdicts = {name: _verdict(module, name, entry) for name, entry in names.items()}
    gap = _gap_of_module(module, verdicts)
    if gap is not None:
        verdicts = {
            name: gap if verdict.status.runs else verdict for name, verdict in verdicts.items()
        }
    return verdicts


def _verdict(module: str, name: str, entry: dict[str, Any]) -> Verdict:
    owners, thing = _look_up(module, name, entry)
    if isinstance(getattr(thing, "__func__", thing), unsupported):
        return judge(thing)
    for owner in owners:
        gap = _refusal_to_be_made(owner)
        if gap is not None:
            return gap
    if entry["kind"] in {"attribute", "enum_value"} or thing is None:
        return WORKS
    return judge(thing)


def _refusal_to_be_made(owner: type) -> Verdict | None:
    """Return the verdict on a class whose objects cannot be made; None if they can."""
    verdict = judge(owner)
    return None if verdict.status.runs else verdict


def _look_up(module: str, name: str, entry: dict[str, Any]) -> tuple[list[type], Any]:
    """Return the classes around a name, and what is declared; None if only objects have it."""
    if entry.get("not_here"):
        module = entry["also_in"][0]
    thing = importlib.import_module("pyflink_on_spark" + module.removeprefix("pyflink"))
    owners: list[type] = []
    for part in name.split("."):
        if not inspect.isclass(thing):
            thing = getattr(thing, part)
            continue
        owners.append(thing)
        if issubclass(thing, enum.Enum) and part in thing.__members__:
            return owners, None
        bases = [base for base in thing.__mro__ if part in base.__dict__]
        if not bases:
            return owners, None
        thing = bases[0].__dict__[part]
    return owners, thing


def _gap_of_module(module: str, verdicts: dict[str, Verdict]) -> Verdict | None:
    """Return the gap of a module that has nothing a job can be given; None if it has something."""
    if ".connectors." not in module and ".formats." not in module:
        return None
    own = importlib.import_module("pyflink_on_spark" + module.removeprefix("pyflink"))
    classes = [
        thing
        for thing in vars(own).values()
        if inspect.isclass(thing) and thing.__module__.startswith(own.__name__)
    ]
    if any(judge(cls).status.runs and _is_end(cls) for cls in classes):
        return None
    gaps = [verdict for verdict in verdicts.values() if verdict.status is Status.NOT_YET]
    return Counter(gaps).most_common(1)[0][0] if gaps else None


def _is_end(cls: type) -> bool:
    return issubclass(cls, USABLE) or any(name in cls.__dict__ for name in SCHEMA_METHODS)


def _wrong() -> Iterator[str]:
    yield "## Known to be wrong"
    yield ""
    if not WRONG:
        yield "Nothing: every behaviour that `compat_tests/` asks for is as in PyFlink.\n"
        return
    yield f"{len(WRONG)} of the behaviours that `compat_tests/` asks for are not as in PyFlink yet:"
    yield ""
    for text in dict.fromkeys(WRONG.values()):
        yield f"- {text}"
    yield ""


def _section(module: str, names: dict[str, Verdict]) -> Iterator[str]:
    usable = sum(verdict.status.runs for verdict in names.values())
    yield f"### {module}"
    yield ""
    yield f"{usable} of {len(names)} work."
    yield ""
    yield "| name | state | note |"
    yield "| --- | --- | --- |"
    for (owner, verdict), members in _grouped(names).items():
        listed = ", ".join(f"`{member}`" for member in members)
        label = f"`{owner}`" if members == [owner] else f"`{owner}`: {listed}"
        yield f"| {label} | {verdict.status.value} | {_note(verdict)} |"
    yield ""


def _releases() -> Iterator[str]:
    yield "## Releases"
    yield ""
    yield "Each name with its first and its last release, unless PyFlink 1.13 to 2.3 all have it."
    yield ""
    yield "| module | releases | names |"
    yield "| --- | --- | --- |"
    for module, names in NAMES.items():
        groups: dict[str, list[str]] = defaultdict(list)
        for name, entry in names.items():
            if entry["releases"] != "1.13-2.3":
                groups[entry["releases"]].append(name)
        for releases, members in sorted(groups.items()):
            listed = ", ".join(f"`{name}`" for name in _outermost(members))
            yield f"| `{module}` | {releases.replace('-', ' to ')} | {listed} |"
    yield ""


def _outermost(names: list[str]) -> list[str]:
    """Return names without those that belong to another one of them."""
    return [name for name in names if name.rpartition(".")[0] not in names]


def _note(verdict: Verdict) -> str:
    """Return why, and what to do; without the kind of the gap, which has a column of its own."""
    reason = verdict.reason
    if not verdict.status.runs:
        reason = next(reason.removeprefix(f"{gap.value}: ") for gap in Gap if gap.value in reason)
    sentences = [
        f"{text[:1].upper()}{text[1:].rstrip('.')}." for text in (reason, verdict.advice) if text
    ]
    return " ".join(sentences).replace("``", "`").replace("|", "/")


def _grouped(names: dict[str, Verdict]) -> dict[tuple[str, Verdict], list[str]]:
    groups: dict[tuple[str, Verdict], list[str]] = defaultdict(list)
    for name, verdict in names.items():
        owner, _, member = name.rpartition(".")
        groups[owner or name, verdict].append(member or name)
    return groups


if __name__ == "__main__":
    DOCUMENT.write_text(document(), encoding="utf-8")
