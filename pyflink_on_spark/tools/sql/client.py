"""Carries out the statements of the SQL client, and prints their results."""

from __future__ import annotations

import os
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from pyflink_on_spark._compat.errors import JobCancelledError
from pyflink_on_spark._job.job import base_configuration
from pyflink_on_spark._options.checkpointing import SAVEPOINT_DIRECTORY
from pyflink_on_spark._options.flink import BATCH, RUNTIME_MODE
from pyflink_on_spark._options.secrets import masked
from pyflink_on_spark._sql.parser.statements import parse_statement
from pyflink_on_spark._sql.session.commands import printed
from pyflink_on_spark._sql.syntax import statements as syntax
from pyflink_on_spark.common import Configuration, JobClient
from pyflink_on_spark.common.configuration import values_of
from pyflink_on_spark.table import EnvironmentSettings, StreamTableEnvironment, TableResult
from pyflink_on_spark.tools.plain_text import plain
from pyflink_on_spark.tools.sql.statements import masked_statement, split_statements

_RESULT_MODE = "sql-client.execution.result-mode"
_MODES = ("tableau", "changelog", "table")
_VERBOSE = "sql-client.verbose"
_ROWS = "sql-client.execution.max-table-result.rows"
_SYNC = "table.dml-sync"
_OWN = {_RESULT_MODE: "tableau", _VERBOSE: "false", _ROWS: "1000000", _SYNC: "false"}
"""The options of the client itself, with their defaults."""
_REDRAW_SECONDS = 0.5
_CLEAR = "\x1b[2J\x1b[H"

HELP = """\
Statements end with a semicolon and can take several lines.

  SELECT, VALUES, WITH    shows the rows; Ctrl-C ends the query
  INSERT INTO             starts a job; SET 'table.dml-sync' = 'true' waits for its end
  EXECUTE STATEMENT SET BEGIN ...; END;   starts one job of several INSERTs
  CREATE, DROP, ALTER, USE, SHOW, DESCRIBE, EXPLAIN, LOAD, UNLOAD
  SET 'key' = 'value';    sets an option; SET; shows all
  RESET 'key';            takes an option back; RESET; takes all back
  SHOW JOBS; STOP JOB 'id' [WITH SAVEPOINT];
  SOURCE 'file.sql';      carries out a file
  HELP; CLEAR; QUIT; EXIT;

Options of the client: 'sql-client.execution.result-mode' is tableau, changelog or table (updated
in place); 'sql-client.verbose' = 'true' shows whole errors."""

Say = Callable[[str], None]


class Quit(Exception):
    """QUIT or EXIT was said."""


class SqlClient:
    """Carries out statements, each with its result on the screen.

    Args:
        say: prints a line.
        live: whether the output is a terminal, on which a table can be shown again and again.
    """

    def __init__(self, say: Say, *, live: bool = False) -> None:
        self._say, self._live = say, live
        self._first = dict(base_configuration())
        settings = EnvironmentSettings.new_instance().with_configuration(
            Configuration.from_dict(self._first)
        )
        self.t_env = StreamTableEnvironment.create(environment_settings=settings.build())
        self.t_env._use_mode(batch=self._is_batch())
        self._own = {key: self._first.get(key, default) for key, default in _OWN.items()}
        self._set: list[str] | None = None
        self._jobs: dict[str, JobClient] = {}

    # -- files -----------------------------------------------------------------------------------

    def run_text(self, text: str, *, echo: bool) -> None:
        """Carry out all statements of a text.

        Args:
            text: statements with semicolons; the last one may lack its own.
            echo: whether each statement is printed before its result.

        Raises:
            Exception: a statement has failed; those after it are not carried out.
        """
        statements, rest = split_statements(text)
        for statement in [*statements, *filter(None, [rest])]:
            if echo:
                self._say(f"> {masked_statement(statement)};")
            self.run(statement)

    def wait(self) -> None:
        """Wait for the jobs that still run."""
        for job_id, job in list(self._jobs.items()):
            job.get_job_execution_result().result()
            del self._jobs[job_id]

    def cancel(self) -> None:
        """Cancel the jobs that still run."""
        for job in self._jobs.values():
            if not job.get_job_status().result().is_terminal_state():
                job.cancel().result()
        self._jobs.clear()

    def running(self) -> int:
        """The number of jobs that this client has started and that still run."""
        return sum(
            not job.get_job_status().result().is_terminal_state() for job in self._jobs.values()
        )

    @property
    def verbose(self) -> bool:
        """True if errors are shown with their tracebacks."""
        return self._own[_VERBOSE] == "true"

    # -- one statement ---------------------------------------------------------------------------

    def run(self, statement: str) -> None:
        """Carry out a statement, and print its result.

        Args:
            statement: without its semicolon.

        Raises:
            Quit: it was QUIT or EXIT.
            Exception: it has failed.
        """
        words = statement.split()
        own = getattr(self, f"_{words[0].lower()}", None) if words[0].upper() in _COMMANDS else None
        if own is not None and own(statement):
            return
        if self._set is not None:
            self._set.append(statement)
            self._say("[INFO] Add SQL update statement to the statement set.")
            return
        self._execute(statement)

    def _execute(self, statement: str) -> None:
        parsed = parse_statement(statement)
        if isinstance(parsed, syntax.SetOption):
            self._set_option(parsed, is_reset=statement.split(maxsplit=1)[0].upper() == "RESET")
            return
        inserts = isinstance(parsed, syntax.Insert | syntax.StatementSet) or (
            isinstance(parsed, syntax.CreateTable) and parsed.query is not None
        )
        if inserts:
            self._say("[INFO] Submitting SQL update statement to the cluster...")
        result = self.t_env.execute_sql(statement)
        if inserts:
            self._inserted(result)
        elif isinstance(parsed, syntax.QueryStatement):
            self._show_rows(result)
        elif result._outcome.kind == 0:
            self._say("[INFO] Execute statement succeeded.")
        else:
            result.print()  # type: ignore[no-untyped-call]

    def _inserted(self, result: TableResult) -> None:
        job = result.get_job_client()
        assert job is not None
        job_id = str(job.get_job_id())
        self._jobs[job_id] = job
        if self._own[_SYNC] != "true":
            self._say("[INFO] SQL update statement has been successfully submitted to the cluster:")
            self._say(f"Job ID: {job_id}\n")
            return
        try:
            result.wait()
        except KeyboardInterrupt:
            job.cancel().result()
            self._say("[INFO] The job is cancelled.")
            return
        finally:
            del self._jobs[job_id]
        self._say("[INFO] Complete execution of the SQL update statement.")

    # -- rows ------------------------------------------------------------------------------------

    def _show_rows(self, result: TableResult) -> None:
        outcome = result._outcome
        changes = outcome.changes()
        try:
            if self._own[_RESULT_MODE] == "table":
                self._show_table(outcome, changes)
                return
            kinds = bool(outcome.print_kinds) or self._own[_RESULT_MODE] == "changelog"
            for line in printed(outcome.schema, changes, outcome.time_zone, kinds=kinds):
                self._say(plain(line))
        except KeyboardInterrupt:
            self._say("\n[INFO] Query terminated.")
        except JobCancelledError:
            self._say("[INFO] The query was cancelled from outside.")
        finally:
            changes.close()  # type: ignore[attr-defined]

    def _show_table(self, outcome: object, changes: Iterator[Any]) -> None:
        """Show the rows that there are, and again when there are others."""
        rows: Counter[tuple[Any, ...]] = Counter()
        most = int(self._own[_ROWS])
        shown = 0.0
        try:
            for kind, row in changes:
                rows[row] += 1 if kind in _ADDED else -1
                if not rows[row]:
                    del rows[row]
                if kind == _BEFORE:
                    continue
                if self._live and time.monotonic() - shown >= _REDRAW_SECONDS:
                    self._say(_CLEAR + plain("\n".join(_table(outcome, rows, most))))
                    shown = time.monotonic()
        finally:
            table = plain("\n".join(_table(outcome, rows, most)))
            self._say((_CLEAR if self._live else "") + table)

    # -- options ---------------------------------------------------------------------------------

    def _set_option(self, given: syntax.SetOption, *, is_reset: bool) -> None:
        if given.key is None and not is_reset:
            for key, value in sorted({**self._options().to_dict(), **self._own}.items()):
                self._say(f"'{key}' = '{masked(key, value)}'")
            return
        if given.value is not None and given.key is not None:
            self._put(given.key, given.value)
        else:
            self._take_back(given.key)
        self.t_env._use_mode(batch=self._is_batch())
        self._say("[INFO] Execute statement succeeded.")

    def _put(self, key: str, value: str) -> None:
        if key == _RESULT_MODE and value.lower() not in _MODES:
            raise ValueError(f"'{_RESULT_MODE}' has to be one of {', '.join(_MODES)}, not {value}")
        if key in self._own:
            self._own[key] = value.lower()
        else:
            self._options().set_string(key, value)

    def _take_back(self, key: str | None) -> None:
        options = self._options()
        for each in [key] if key is not None else [*options.key_set(), *self._own]:
            if each in self._own:
                self._own[each] = self._first.get(each, _OWN[each])
            elif each in self._first:
                options.set_string(each, self._first[each])
            else:
                options.remove_config(each)

    def _options(self) -> Configuration:
        return self.t_env.get_config().get_configuration()

    def _is_batch(self) -> bool:
        return bool(RUNTIME_MODE.read(values_of(self._options())) == BATCH)

    # -- commands of the client --------------------------------------------------------------------

    def _quit(self, statement: str) -> bool:
        raise Quit

    _exit = _quit

    def _help(self, statement: str) -> bool:
        self._say(HELP)
        return True

    def _clear(self, statement: str) -> bool:
        self._say(_CLEAR)
        return True

    def _source(self, statement: str) -> bool:
        path = _text_of(statement, r"SOURCE\s+'(.*)'")
        with open(path, encoding="utf-8") as file:
            self.run_text(file.read(), echo=True)
        return True

    def _add(self, statement: str) -> bool:
        jar = _text_of(statement, r"ADD\s+JAR\s+'(.*)'")
        self._say(f"[INFO] {os.path.basename(jar)} is passed over: no jar is loaded on Spark.")
        return True

    def _begin(self, statement: str) -> bool:
        """Carry out ``BEGIN STATEMENT SET; ...; END``, of which the end is a part."""
        inside = re.sub(r"^BEGIN\s+STATEMENT\s+SET\s*;", "", statement, flags=re.IGNORECASE)
        if inside == statement:
            return False
        self._execute(f"EXECUTE STATEMENT SET BEGIN {inside}")
        return True

    def _show(self, statement: str) -> bool:
        if statement.upper().split() == ["SHOW", "JARS"]:
            self._say("Empty set")
            return True
        if statement.upper().split() != ["SHOW", "JOBS"]:
            return False
        for job_id, job in self._jobs.items():
            self._say(f"{job_id}  {job.get_job_status().result().name}")
        if not self._jobs:
            self._say("Empty set")
        return True

    def _stop(self, statement: str) -> bool:
        found = re.fullmatch(
            r"STOP\s+JOB\s+'([0-9a-f]+)'(\s+WITH\s+SAVEPOINT)?(\s+WITH\s+DRAIN)?",
            statement,
            re.IGNORECASE,
        )
        if found is None:
            raise ValueError("STOP JOB 'id' [WITH SAVEPOINT] [WITH DRAIN]")
        job = self._jobs.get(found[1])
        if job is None:
            raise ValueError(f"there is no job {found[1]} of this client: SHOW JOBS lists them")
        if found[2]:
            folder = SAVEPOINT_DIRECTORY.read(values_of(self._options())) or None
            path = job.stop_with_savepoint(bool(found[3]), folder).result()
            self._say(f"savepoint path: {path}")
        else:
            job.cancel().result()
            self._say("[INFO] Execute statement succeeded.")
        del self._jobs[found[1]]
        return True


_COMMANDS = frozenset({"QUIT", "EXIT", "HELP", "CLEAR", "SOURCE", "ADD", "BEGIN", "SHOW", "STOP"})
_ADDED = frozenset({0, 2})
_BEFORE = 1


def _table(outcome: Any, rows: Counter[tuple[object, ...]], most: int) -> Iterator[str]:
    listed = [(0, row) for row in rows.elements()][:most]
    return printed(outcome.schema, listed, outcome.time_zone, kinds=False)


def _text_of(statement: str, pattern: str) -> str:
    found = re.fullmatch(pattern, statement, re.IGNORECASE)
    if found is None:
        raise ValueError(f"the statement cannot be read: {statement}")
    return found[1]


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
