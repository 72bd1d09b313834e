"""``python -m pyflink_on_spark sql``."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pyflink_on_spark._compat.import_hook import install
from pyflink_on_spark.tools.commands import parser_of, run_command
from pyflink_on_spark.tools.operate.run import EndAsked, SignalsAsk, configure
from pyflink_on_spark.tools.operate.run_options import UsageError, help_lines, parse
from pyflink_on_spark.tools.plain_text import plain
from pyflink_on_spark.tools.sql.client import Quit, SqlClient, say

_DESCRIPTION = """\
Carry out SQL: of a file, or at a prompt with completion and history, which needs the packages of
the extra 'sql'. Jobs run in this process: it waits for them at its end, and Ctrl-C cancels them."""


def main(arguments: list[str]) -> int:
    """Carry out SQL; return the exit status."""
    parser = parser_of(
        "sql",
        _DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="\n".join(["further options:", *help_lines()]),
    )
    _add_options(parser)
    try:
        given, rest = parser.parse_known_args(_without_mode(arguments))
        notes = _notes(given)
        options = parse(rest)
        if options.script is not None:
            raise UsageError(f"which option is {options.script}? Give a file with -f {rest[-1]}")
        for path in (given.init, given.file):
            if path is not None and path != "-" and not os.path.isfile(path):
                raise UsageError(f"there is no file {path}")
        configure(options, None)
    except UsageError as error:
        print(error, file=sys.stderr)
        return 2
    for note in [*notes, *options.notes]:
        print(note, file=sys.stderr)
    install()
    sys.path.insert(0, os.path.dirname(os.path.abspath(given.file or given.init or "x")))
    client = SqlClient(say, live=sys.stdout.isatty())
    if given.update is not None:
        return _run_files(client, given.init, lambda: given.update)
    if given.file is None and sys.stdin.isatty():
        return _at_prompt(client, given.init, given.history)
    return _run_files(client, given.init, lambda: _read(given.file or "-"))


def sql_client() -> int:
    """The command ``sql-client.sh``: carry out SQL as the command line says."""
    return run_command("sql", sys.argv[1:])


def _add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of Flink's client; its long names may have a single dash."""
    parser.add_argument("-f", "--file", "-file", help="the statements; - for standard input")
    parser.add_argument(
        "-i", "--init", "-init", help="statements to begin with, CREATE and SET for example"
    )
    parser.add_argument(
        "-u", "--update", "-update", metavar="STATEMENT", help="a statement, in place of a file"
    )
    parser.add_argument("-hist", "--history", help="the file of the prompt's history")
    for names in _JARS:
        parser.add_argument(*names, action="append", default=[], help=argparse.SUPPRESS)
    parser.add_argument("-s", "--session", "-session", help=argparse.SUPPRESS)
    for names in _FILES_OF_1_13:
        parser.add_argument(*names, help=argparse.SUPPRESS)


_JARS = (("-j", "--jar", "-jar"), ("-l", "--library", "-library"))
_FILES_OF_1_13 = (("-d", "--defaults", "-defaults"), ("-e", "--environment", "-environment"))


def _notes(given: argparse.Namespace) -> list[str]:
    """A line for each option that has no counterpart on Spark.

    Raises:
        UsageError: an option cannot be passed over.
    """
    for names in _FILES_OF_1_13:
        value = getattr(given, names[1].lstrip("-"))
        if value is not None:
            raise UsageError(
                f"{names[0]} {value}: Flink reads files of environments up to 1.13 only: write "
                "CREATE TABLE and SET into a file for -i"
            )
    if given.update is not None and given.file is not None:
        raise UsageError("-u and -f both give statements: leave out one")
    jars = [
        f"{names[0]} {value}: passed over, since connectors and functions are Python here"
        for names in _JARS
        for value in getattr(given, names[1].lstrip("-"))
    ]
    if given.session not in {None, "default"}:
        jars.append(f"-s {given.session}: passed over, since a session ends with its process")
    return jars


def _without_mode(arguments: list[str]) -> list[str]:
    """Return arguments without the word of Flink's client that says where it runs.

    Raises:
        UsageError: it is to use a gateway.
    """
    if arguments[:1] == ["gateway"]:
        raise UsageError("gateway: there is no SQL gateway to connect to; without this word and "
                         "its -e, statements run in this process")  # fmt: skip
    return arguments[1:] if arguments[:1] == ["embedded"] else arguments


def _run_files(client: SqlClient, init: str | None, text: Callable[[], str]) -> int:
    SignalsAsk().install()
    try:
        with _told(client) as ended:
            if init is not None:
                client.run_text(_read(init), echo=False)
            client.run_text(text(), echo=True)
        if not ended:
            client.wait()
    except KeyboardInterrupt as asked:
        client.cancel()
        return asked.status if isinstance(asked, EndAsked) else EndAsked(2).status
    except Exception as error:  # noqa: BLE001 - told as an error of the job
        tell(error, verbose=client.verbose)
        return 1
    return 1 if ended else 0


def _at_prompt(client: SqlClient, init: str | None, history: str | None) -> int:
    try:
        from pyflink_on_spark.tools.sql.prompt import Prompt
    except ModuleNotFoundError as error:
        print(
            f"the prompt needs the package {error.name}: pip install 'pyflink_on_spark[sql]'; "
            "files of statements need nothing: -f FILE",
            file=sys.stderr,
        )
        return 2
    if init is not None:
        with _told(client) as ended:
            client.run_text(_read(init), echo=False)
        if ended:
            return 1
    prompt = Prompt(client, history)
    for statement in prompt.statements():
        try:
            with _told(client):
                client.run(statement)
        except KeyboardInterrupt:
            say("[INFO] Interrupted.")
        except Quit:
            break
    return _wait_at_end(client)


def _wait_at_end(client: SqlClient) -> int:
    count = client.running()
    if count:
        say(f"[INFO] {count} job(s) run in this process; it ends with them. Ctrl-C cancels them.")
    try:
        client.wait()
    except KeyboardInterrupt:
        client.cancel()
    return 0


@contextmanager
def _told(client: SqlClient) -> Iterator[list[str]]:
    """Print an error; then the list that is given has its text."""
    ended: list[str] = []
    try:
        yield ended
    except Quit:
        raise
    except Exception as error:  # noqa: BLE001 - errors are all printed in the same way
        tell(error, verbose=client.verbose)
        ended.append(str(error))


def tell(error: Exception, *, verbose: bool) -> None:
    """Print an error of a statement.

    Args:
        error: the error.
        verbose: whether its traceback is printed, too.
    """
    if verbose:
        traceback.print_exception(error)
    name = type(error).__name__
    told = plain(f"{name}: {error}")
    print(f"[ERROR] Could not execute SQL statement. Reason:\n{told}", file=sys.stderr)


def _read(path: str) -> str:
    if path == "-":
        return sys.stdin.read()
    with open(path, encoding="utf-8") as file:
        return file.read()
