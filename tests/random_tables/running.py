"""Runs a program on whichever engine ``pyflink`` is."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from tests.random_programs.outcome import (
    BUILD,
    Failure,
    Outcome,
    canonical,
    failure,
    root_cause,
)
from tests.random_tables.functions import functions
from tests.random_tables.kinds import KINDS, to_file, to_python
from tests.random_tables.program import EXACT, Program, Table
from tests.random_tables.rendering import definitions, python_functions

Printed = Callable[[Callable[[], None]], list[str]]
"""Runs what prints, and returns at least the lines that it printed."""
_ZONE = "table.local-time-zone"


def run(program: Program, make_env: Callable[[], Any], printed: Printed, label: str) -> Outcome:
    """Run a program.

    Args:
        program: what runs.
        make_env: makes an environment of the engine.
        printed: gets at what is printed.
        label: the job's name, which tells its printed lines from those of other jobs.
    """
    with tempfile.TemporaryDirectory(prefix="random-tables-") as folder:
        try:
            t_env = _environment(program, make_env())
            build(program, t_env, Path(folder))
        except Exception as error:  # noqa: BLE001 - it is what the program gave
            return Outcome(failure=_built(error))
        try:
            found = _TAKEN[program.how](program, t_env, printed, label)
        except Exception as error:  # noqa: BLE001
            return Outcome(failure=failure(str(error)))
    if program.order == EXACT:
        return Outcome(tuple(map(tuple, found)))
    return Outcome(tuple(tuple(left(changes)) for changes in found))


def run_here(program: Program) -> Outcome:
    """Run a program on the ``pyflink`` that is installed, in an environment of its own."""
    from pyflink.datastream import StreamExecutionEnvironment

    def printed(execute: Callable[[], None]) -> list[str]:
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            execute()
        return text.getvalue().splitlines()

    return run(program, StreamExecutionEnvironment.get_execution_environment, printed, "p")


def left(changes: Iterable[str]) -> list[str]:
    """Return the rows that are left after all changes; one that is not there is marked ``-D``."""
    rows: Counter[str] = Counter()
    for change in changes:
        rows[change[2:]] += 1 if change[0] == "+" else -1
    missing = [f"-D{row}" for row, count in rows.items() for _ in range(-count)]
    return sorted([f"+I{row}" for row in rows.elements()] + missing)


def build(program: Program, t_env: Any, folder: Path) -> None:
    """Make the tables and views of a program."""
    for table in program.tables:
        _create(t_env, table, folder)
    made = functions() if python_functions(program) else {}
    for name in python_functions(program):
        t_env.create_temporary_function(name, made[name])
    module: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(definitions(program), "<program>", "exec"), module)
    module["build"](t_env)


def _environment(program: Program, env: Any) -> Any:
    from pyflink.datastream import RuntimeExecutionMode
    from pyflink.table import StreamTableEnvironment

    env.set_parallelism(program.parallelism)
    env.set_runtime_mode(RuntimeExecutionMode[program.mode])
    t_env = StreamTableEnvironment.create(env)
    t_env._random_tables_env = env
    for key, value in {_ZONE: "UTC", **program.settings}.items():
        t_env.get_config().set(key, value)
    return t_env


def _create(t_env: Any, table: Table, folder: Path) -> None:
    if table.source == "elements":
        _create_elements(t_env, table)
    elif table.source == "changelog":
        _create_changelog(t_env, table)
    else:
        path = folder / f"{table.name}.json"
        lines = _debezium(table) if table.source == "debezium" else _json(table)
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        columns = [f"`{name}` {kind}" for name, kind in table.columns]
        if table.delay is not None:
            columns.append(f"WATERMARK FOR ts AS ts - INTERVAL '{table.delay}' SECOND")
        form = "debezium-json" if table.source == "debezium" else "json"
        standard = f"'{form}.timestamp-format.standard' = 'SQL'"
        t_env.execute_sql(
            f"CREATE TEMPORARY TABLE {table.name} ({', '.join(columns)}) WITH ('connector' = "
            f"'filesystem', 'path' = '{path}', 'format' = '{form}', {standard})"
        )


def _record(table: Table, row: list[Any]) -> dict[str, Any]:
    return {name: to_file(kind, value) for (name, kind), value in zip(table.columns, row[1:])}


def _json(table: Table) -> list[dict[str, Any]]:
    return [_record(table, row) for row in table.rows]


def _debezium(table: Table) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = []
    before = None
    for row in table.rows:
        record = _record(table, row)
        if row[0] == "+I":
            lines.append({"before": None, "after": record, "op": "c"})
        elif row[0] == "-D":
            lines.append({"before": record, "after": None, "op": "d"})
        elif row[0] == "-U":
            before = record
        else:
            lines.append({"before": before, "after": record, "op": "u"})
    return lines


def _create_elements(t_env: Any, table: Table) -> None:
    from pyflink.table import DataTypes

    fields = []
    for name, kind in table.columns:
        text = f"DataTypes.{KINDS[kind.removesuffix(' NOT NULL')].data_type}"
        found = eval(text, {"DataTypes": DataTypes})
        fields.append(DataTypes.FIELD(name, found.not_null() if kind.endswith("NULL") else found))
    kinds = [kind for _, kind in table.columns]
    rows = [tuple(map(to_python, kinds, row[1:])) for row in table.rows]
    t_env.create_temporary_view(table.name, t_env.from_elements(rows, DataTypes.ROW(fields)))


def _create_changelog(t_env: Any, table: Table) -> None:
    """Create a table of a stream of changes, whose columns of rare types come as texts."""
    from pyflink.common import Row, RowKind, Types
    from pyflink.table import Schema

    plain = {"INT": Types.INT(), "BIGINT": Types.LONG(), "DOUBLE": Types.DOUBLE(),
             "BOOLEAN": Types.BOOLEAN(), "STRING": Types.STRING(), "SMALLINT": Types.SHORT(),
             "FLOAT": Types.FLOAT()}  # fmt: skip
    kinds = {"+I": RowKind.INSERT, "-U": RowKind.UPDATE_BEFORE, "+U": RowKind.UPDATE_AFTER,
             "-D": RowKind.DELETE}  # fmt: skip
    rows = []
    for kind, *values in table.rows:
        row = Row(*values)
        row.set_row_kind(kinds[kind])
        rows.append(row)
    names = [name for name, _ in table.columns]
    types = [plain[kind.removesuffix(" NOT NULL")] for _, kind in table.columns]
    stream = t_env._random_tables_env.from_collection(rows, Types.ROW_NAMED(names, types))
    schema = Schema.new_builder()
    for name, kind in table.columns:
        schema = schema.column(name, kind)
    t_env.create_temporary_view(table.name, t_env.from_changelog_stream(stream, schema.build()))


def _collected(program: Program, t_env: Any, printed: Printed, label: str) -> list[list[str]]:
    found = []
    for name in program.outputs:
        with t_env.from_path(name).execute().collect() as results:
            found.append([_change(row) for row in results])
    return found


def _change(row: Any) -> str:
    return f"{row.get_row_kind()}({', '.join(canonical(value) for value in row)})"


def _printed(program: Program, t_env: Any, printed: Printed, label: str) -> list[list[str]]:
    kinds = {relation.name: relation.columns for relation in program.relations}
    statements = t_env.create_statement_set()
    for name in program.outputs:
        columns = ", ".join(f"`{c}` {k.removesuffix(' NOT NULL')}" for c, k in kinds[name])
        t_env.execute_sql(
            f"CREATE TEMPORARY TABLE out_{name} ({columns}) WITH ('connector' = 'print', "
            f"'print-identifier' = '{label}.{name}')"
        )
        statements.add_insert_sql(f"INSERT INTO out_{name} SELECT * FROM {name}")
    lines = printed(lambda: statements.execute().wait())
    return [_lines(lines, f"{label}.{name}") for name in program.outputs]


def _streamed(program: Program, t_env: Any, printed: Printed, label: str) -> list[list[str]]:
    for name in program.outputs:
        t_env.to_changelog_stream(t_env.from_path(name)).print(f"{label}.{name}")
    lines = printed(lambda: t_env._random_tables_env.execute(label))
    return [_lines(lines, f"{label}.{name}") for name in program.outputs]


def _lines(found: list[str], name: str) -> list[str]:
    """Return the lines of a sink: ``name> text`` or ``name:subtask> text``."""
    lines = [line.removeprefix(name) for line in found if line.startswith((f"{name}>", f"{name}:"))]
    return [line.split("> ", 1)[1] for line in lines]


_TAKEN = {"collect": _collected, "print": _printed, "stream": _streamed}


def _built(error: Exception) -> Failure:
    """Return the failure of a program that is refused."""
    return Failure(BUILD, f"{type(error).__name__}: {root_cause(str(error))}")
