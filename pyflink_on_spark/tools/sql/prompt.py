"""The prompt of the SQL client: history, completion, colours."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.key_binding.key_processor import KeyPressEvent
from prompt_toolkit.lexers import PygmentsLexer
from pygments.lexers.sql import SqlLexer  # type: ignore[import-untyped]

from pyflink_on_spark._compat.errors import PyFlinkOnSparkError
from pyflink_on_spark._sql.catalog import Relation
from pyflink_on_spark._sql.parser.keywords import RESERVED
from pyflink_on_spark._sql.plan.options import CatalogTable
from pyflink_on_spark.table._inner import session_of
from pyflink_on_spark.tools.sql.client import SqlClient, say
from pyflink_on_spark.tools.sql.statements import split_statements

_HISTORY = "~/.pyflink-on-spark-sql-history"
_WELCOME = "SQL of Flink on Spark. HELP; shows the statements, QUIT; ends.\n"
_MORE = frozenset({"QUIT", "HELP", "SHOW", "TABLES", "RESET", "CATALOG", "DATABASE", "WATERMARK"})


class Prompt:
    """Reads statements from the terminal.

    Args:
        client: knows the tables, columns and functions that there are.
        history: the file of earlier statements; one in the user's home if not given.
    """

    def __init__(self, client: SqlClient, history: str | None = None) -> None:
        self._completer = SqlCompleter(client)
        self._session: PromptSession[str] = PromptSession(
            "Flink SQL> ",
            multiline=True,
            history=FileHistory(os.path.expanduser(history or _HISTORY)),
            completer=self._completer,
            complete_in_thread=True,
            complete_while_typing=False,
            lexer=PygmentsLexer(SqlLexer),
            key_bindings=_bindings(),
            prompt_continuation=lambda width, _line, _soft: "> ".rjust(width),
        )

    def statements(self) -> Iterator[str]:
        """Yield statements until the input ends; Ctrl-C drops the line."""
        say(_WELCOME)
        while True:
            self._completer.forget()
            try:
                text = self._session.prompt()
            except KeyboardInterrupt:
                continue
            except EOFError:
                return
            statements, rest = split_statements(text)
            yield from [*statements, *filter(None, [rest])]


def _bindings() -> KeyBindings:
    bindings = KeyBindings()

    @bindings.add("enter")
    def _enter(event: KeyPressEvent) -> None:
        """Carry out what is complete; else begin another line."""
        buffer = event.current_buffer
        statements, rest = split_statements(buffer.text)
        if (statements and not rest) or not buffer.text.strip():
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n")

    return bindings


class SqlCompleter(Completer):
    """Completes words of SQL, and names of what there is.

    The names are looked up once for each prompt: a catalog may be a server's.

    Args:
        client: knows the tables, columns and functions that there are.
    """

    def __init__(self, client: SqlClient) -> None:
        self._client = client
        self._known: dict[str, str] | None = None

    def forget(self) -> None:
        """Look the names up again: a statement may have changed them."""
        self._known = None

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        """Yield completions of the word before the cursor."""
        word = document.get_word_before_cursor()
        if not word:
            return
        if self._known is None:
            self._known = dict(sorted(self._words().items()))
        for found, kind in self._known.items():
            if found.lower().startswith(word.lower()):
                yield Completion(found, start_position=-len(word), display_meta=kind)

    def _words(self) -> dict[str, str]:
        t_env = self._client.t_env
        words = dict.fromkeys(RESERVED | _MORE, "word")
        words.update(dict.fromkeys(t_env.list_functions(), "function"))
        words.update(dict.fromkeys(t_env.list_catalogs(), "catalog"))
        # A server may be away, and a table may have a column of a type that there is not.
        with suppress(PyFlinkOnSparkError):
            words.update(dict.fromkeys(t_env.list_databases(), "database"))
            relations = session_of(t_env).catalog.relations()
            for name in relations:
                words[name] = "table"
                with suppress(PyFlinkOnSparkError):
                    words.update(dict.fromkeys(_columns(relations[name]), "column"))
        return words


def _columns(relation: Relation) -> Iterable[str]:
    if isinstance(relation, CatalogTable):
        return relation.schema.row.names
    return relation.plan.schema.names
