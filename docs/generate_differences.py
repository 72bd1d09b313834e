"""Writes differences.md: every ``On Spark:`` section of the public classes and functions.

python docs/generate_differences.py           writes it
python docs/generate_differences.py --check   says whether it is stale, by the exit status
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
import pkgutil
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pyflink_on_spark.tools.check.verdict import deviations

PACKAGE = "pyflink_on_spark"
PARTS = ("common", "datastream", "metrics", "util", "table")
DOCUMENT = Path(__file__).with_name("differences.md")
HEAD = """\
# Where this differs from PyFlink

What is not in this list behaves as in PyFlink 2.3.0, or it is a bug. What does not work at all
raises `UnsupportedFlinkFeature`, which says what to do instead;
`python -m pyflink_on_spark check script.py` says it before the script is run.

The rest of this page is generated: each entry is the `On Spark:` section of a docstring. To change
it, change the docstring, then run `python docs/generate_differences.py`.

## Errors

- A job that fails raises `JobExecutionError`, a cancelled one `JobCancelledError`, both of
  `pyflink_on_spark.errors`, where PyFlink raises `py4j.protocol.Py4JJavaError`. In a script that
  imports py4j they also are a `Py4JJavaError`: its `except` clauses stay as they are. `str(error)`
  begins with the traceback of the script's own function. `error.java_exception` has that text, with
  `toString()`, `getMessage()` and `printStackTrace()`; there is no Java object.
- What can be known before a job starts raises Python's own errors, where PyFlink raises a
  `Py4JJavaError`: a missing file `FileNotFoundError`, a wrong argument `ValueError` or `TypeError`.
- An error in the `close` of a function of `pyflink.datastream.functions`, in whatever mode and
  however the job ends, fails no job, as in PyFlink; it is logged with its traceback. All other
  functions are closed, where PyFlink leaves out those that come after it in the same worker. Write
  what must not get lost in `process_element` or a sink. An error in the `close` of a sink, or of a
  sink function of `pyflink_on_spark.extensions`, fails the job, as in Java.
- `SystemExit`, `GeneratorExit`, `asyncio.CancelledError` and other errors that are no `Exception`
  fail the job, in asynchronous functions too, where a job of PyFlink may wait for ever.

## In general

- A value that does not have a state's declared type is refused when it is put in, and so is a
  result of `reduce` or `sum` on a keyed stream that does not have the stream's type. PyFlink
  refuses what is still there when it writes its state, at the end of a bundle.
- None that a function emits into a stream without a declared type is an element like any other.
  PyFlink fails with a `NullPointerException` where such an element leaves its Python worker.
- A `reduce` that returns None leaves nothing of the key: the next element is its first again. In
  PyFlink all further results of the key are None.
"""


def document() -> str:
    """Return the text of the page."""
    lines = [HEAD]
    for module, entries in sorted(_entries().items()):
        lines += [f"## {module.replace(PACKAGE, 'pyflink', 1)}", ""]
        lines += [f"- {names}: {text}" for text, names in entries]
        lines.append("")
    return "\n".join(lines)


def _entries() -> dict[str, list[tuple[str, str]]]:
    """Return, for each module users import from, the texts and the names that each holds for."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for module, name, thing in _public():
        for inner, docstring in _documented(name, thing):
            for text in deviations(docstring):
                found[module][_sentences(text)].append(f"`{inner}`")
    return {
        module: [(text, ", ".join(dict.fromkeys(names))) for text, names in texts.items()]
        for module, texts in found.items()
    }


def _public() -> Iterator[tuple[str, str, Any]]:
    """Yield the public things of all modules, each under the shortest module that has it."""
    names: dict[int, tuple[str, str, Any]] = {}
    parts = {id(part) for _, _, thing in _exported() for part in _parts(thing)}
    for module in sorted(_modules(), key=lambda name: (name.count("."), name)):
        members = vars(importlib.import_module(module))
        for name in members.get("__all__") or members:
            thing = members.get(name)
            if not name.startswith("_") and _is_ours(thing) and id(thing) not in parts:
                names.setdefault(id(thing), (module, name, thing))
    yield from sorted(names.values(), key=lambda entry: entry[:2])


def _modules() -> Iterator[str]:
    for part in PARTS:
        name = f"{PACKAGE}.{part}"
        if importlib.util.find_spec(name) is None:
            continue
        yield name
        for info in pkgutil.walk_packages(importlib.import_module(name).__path__, f"{name}."):
            if not any(piece.startswith("_") for piece in info.name.split(".")):
                yield info.name


def _is_ours(thing: Any) -> bool:
    module = getattr(thing, "__module__", None) or ""
    mirrored = module.startswith(tuple(f"{PACKAGE}.{part}" for part in PARTS))
    return mirrored and (inspect.isclass(thing) or callable(thing))


def _documented(name: str, thing: Any) -> Iterator[tuple[str, str | None]]:
    yield name, thing.__dict__.get("__doc__") if inspect.isclass(thing) else thing.__doc__
    if not inspect.isclass(thing):
        return
    for owner in (thing, *_parts(thing)):
        for member, declared in owner.__dict__.items():
            value = getattr(declared, "__func__", declared)
            if inspect.isclass(value) and value.__qualname__ == f"{owner.__qualname__}.{member}":
                yield from _documented(f"{name}.{member}", value)
            elif not member.startswith("_") and (callable(value) or isinstance(value, property)):
                yield f"{name}.{member}", value.__doc__


def _parts(thing: Any) -> Iterator[type]:
    """Yield the classes that an exported class is made of but nobody imports."""
    exported = {id(thing) for _, _, thing in _exported()}
    bases = getattr(thing, "__mro__", ())[1:]
    elsewhere = {part for base in bases if id(base) in exported for part in base.__mro__}
    for base in bases:
        if _is_ours(base) and base not in elsewhere:
            yield base


@functools.cache
def _exported() -> tuple[tuple[str, str, Any], ...]:
    return tuple(
        (module, name, members[name])
        for module in _modules()
        for members in [vars(importlib.import_module(module))]
        for name in members.get("__all__", ())
        if name in members
    )


def _sentences(text: str) -> str:
    return (text[:1].upper() + text[1:].rstrip(".") + ".").replace("``", "`")


def main(arguments: list[str]) -> int:
    """Write the page, or check it."""
    if "--check" in arguments:
        return int(DOCUMENT.read_text(encoding="utf-8") != document())
    DOCUMENT.write_text(document(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
