"""Verdicts on parts of PyFlink, and of Java, that this package lacks entirely."""

from __future__ import annotations

import re

from pyflink_on_spark._compat.import_hook import OF_THE_JVM
from pyflink_on_spark._compat.unsupported import Gap
from pyflink_on_spark.tools.check.verdict import Status, Verdict

TABLE = Verdict(
    Status.NOT_YET,
    "this part of the Table API is not in this package yet",
    "Use what there is of it, or a DataStream.",
)
_JAVA = Verdict(
    Status.NEVER,
    f"{Gap.NEVER.value}",
    "Use the methods of the Python objects; what was written in Java has to be written in Python.",
)
_NO_MODULE = Verdict(
    Status.NOT_YET,
    "this package has no such module yet",
    "Read or write files, or a collection, until it has.",
)
_FOREIGN = Verdict(
    Status.UNKNOWN,
    "this package has no such module; check that PyFlink has it",
    "Leave it out, or run this part on Flink.",
)
_CONFIGURED_JAR = Verdict(
    Status.DIFFERS,
    "No jar is needed: the connectors of this package are Python.",
    "Drop it.",
)
_JAR = re.compile(r"(?:^|[/\\])?([\w.\-{}$*]+\.jar)\b")


def verdict_on_module(name: str) -> Verdict:
    """Return the verdict on a module that this package does not have."""
    parts = name.split(".")
    if "table" in parts[1:2]:
        return TABLE
    if OF_THE_JVM & {*parts[1:2]} or any(part.startswith("_") for part in parts):
        return _JAVA
    return _NO_MODULE if parts[1:2] == ["datastream"] else _FOREIGN


def verdict_on_java_access() -> Verdict:
    """Return the verdict on the attributes where PyFlink keeps its Java objects."""
    return _JAVA


def verdict_on_name(module: str, name: str) -> Verdict:
    """Return the verdict on a name that a module or class of this package does not have."""
    if module.split(".")[1:2] == ["table"]:
        return TABLE
    return Verdict(
        Status.UNKNOWN,
        f"{module} has no {name} here: it is missing in PyFlink too, or not supported yet",
        "Check its spelling against PyFlink's documentation.",
    )


def jars_in(text: str) -> list[tuple[str, Verdict]]:
    """Return the jars that a text of the script names."""
    return [(jar, _CONFIGURED_JAR) for jar in _JAR.findall(text)]
