"""Statements with what becomes of them, in text files: a block each, with an empty line between.

A block is a name after ``--``, a statement, and an answer. ``BATCH`` before a statement stands for
batch mode. ``python -m tests.sql.recorded`` writes the answers again; read the difference.
"""

from __future__ import annotations

import re
from pathlib import Path

from tests.sql.planner.plans import bound, explained

HERE = Path(__file__).resolve().parent
_SOURCE = re.compile(r"\n( *)\+- LogicalProject\([^\n]*\n *\+- (LogicalTableScan)")
_CLASS = re.compile(r"^org\.apache\.flink\.[\w.]+: ")
_CALL = re.compile(r" \(called at .*\)$")
_PATH = "default_catalog, default_database, "


def logical(statement):
    """The bound plan below the sink; a scan of a table that has computed columns is one line."""
    lines = bound(*_mode(statement))[1:]
    plan = _SOURCE.sub(r"\n\1+- \2", "\n".join(line[6:] for line in lines).replace(_PATH, ""))
    return plan.replace("Logical", "")


def physical(statement):
    """The physical plan below the sink, with the changes of each node."""
    lines = explained(*_mode(statement))[1:]
    return "\n".join(line[3:] for line in lines).replace(_PATH, "")


def refusal(statement):
    """The error of a statement: its class and text, without the place in the program."""
    try:
        return f"not refused: {logical(statement)}"
    except Exception as error:  # noqa: BLE001 - each class is part of the answer
        text = _CALL.sub("", _CLASS.sub("", str(error))).replace("\n\n", "\n")
        return f"{type(error).__name__}: {text}"


def _mode(statement):
    return statement.removeprefix("BATCH "), statement.startswith("BATCH ")


FILES = {
    HERE / "binder" / "bound_queries.txt": logical,
    HERE / "binder" / "refused_queries.txt": refusal,
    HERE / "planner" / "planned_queries.txt": physical,
}


def blocks(path):
    """The name, the statement and the answer of each block."""
    for block in path.read_text(encoding="utf-8").strip().split("\n\n"):
        name, statement, *answer = block.splitlines()
        yield name.removeprefix("-- "), statement, "\n".join(answer)


def main():
    for path, answer in FILES.items():
        written = (f"-- {name}\n{text}\n{answer(text)}\n" for name, text, _ in blocks(path))
        path.write_text("\n".join(written), encoding="utf-8")


if __name__ == "__main__":
    main()
