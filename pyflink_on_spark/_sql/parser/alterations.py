"""Parses ALTER."""

from __future__ import annotations

from collections.abc import Callable

from pyflink_on_spark._sql.errors import not_yet
from pyflink_on_spark._sql.parser.tables import TableParser
from pyflink_on_spark._sql.parser.tokens import Token
from pyflink_on_spark._sql.syntax.statements import (
    AlterCatalog,
    AlterColumns,
    AlterDatabase,
    AlterFunction,
    AlterOptions,
    AlterView,
    DropColumns,
    ObjectKind,
    PlacedColumn,
    Rename,
    RenameColumn,
    Statement,
)


class AlterationParser(TableParser):
    """Reads statements that change what is in a catalog."""

    def alter(self, first: Token) -> Statement:
        """Read what follows ALTER."""
        temporary = self.accept("TEMPORARY")
        system = temporary and self.accept("SYSTEM")
        if temporary or self.at("FUNCTION"):
            self.expect("FUNCTION")
            return self._altered_function(first, temporary, system)
        read: dict[str | None, Callable[[Token], Statement]] = {
            "TABLE": self._altered_table,
            "VIEW": self._altered_view,
            "DATABASE": self._altered_database,
            "CATALOG": self._altered_catalog,
        }
        word = self.accept_any("TABLE", "VIEW", "DATABASE", "CATALOG")
        if word is None:
            not_yet(f"ALTER {self.token.upper}", first.span, "Use CREATE and DROP.")
        return read[word](first)

    def implementation(self) -> tuple[str, str]:
        """Read where a function is, and the language that it is written in."""
        self.expect("AS")
        path, language = self.string(), "JAVA"
        if self.accept("LANGUAGE"):
            found = self.accept_any("JAVA", "SCALA", "PYTHON")
            if found is None:
                raise self.unexpected()
            language = found
        return path, language

    def _altered_function(self, first: Token, temporary: bool, system: bool) -> Statement:
        if_exists = self.accept("IF", "EXISTS")
        path, _ = self.path()
        implementation, language = self.implementation()
        span = self.since(first.span)
        return AlterFunction(
            path, implementation, language, temporary, system, if_exists, span=span
        )

    def _altered_view(self, first: Token) -> Statement:
        path, _ = self.path()
        if self.accept("RENAME", "TO"):
            new_path, _ = self.path()
            return Rename(ObjectKind.VIEW, path, new_path, span=self.since(first.span))
        self.expect("AS")
        query = self.query()
        return AlterView(path, query, span=self.since(first.span))

    def _altered_database(self, first: Token) -> Statement:
        path, _ = self.path()
        self.expect("SET")
        options = self.any_in_parentheses(self.option)
        return AlterDatabase(path, options, span=self.since(first.span))

    def _altered_catalog(self, first: Token) -> Statement:
        (name, *_), _ = self.path()
        if self.accept("SET"):
            options = self.any_in_parentheses(self.option)
            return AlterCatalog(name, options, span=self.since(first.span))
        if self.accept("RESET"):
            removed = self.any_in_parentheses(self.string)
            return AlterCatalog(name, removed=removed, span=self.since(first.span))
        self.expect("COMMENT")
        return AlterCatalog(name, comment=self.string(), span=self.since(first.span))

    def _altered_table(self, first: Token) -> Statement:
        if_exists = self.accept("IF", "EXISTS")
        path, _ = self.path()
        if self.accept("RENAME", "TO"):
            new_path, _ = self.path()
            span = self.since(first.span)
            return Rename(ObjectKind.TABLE, path, new_path, if_exists, span=span)
        word = self.token.upper
        if word in {"ADD", "MODIFY"} and self.peek().upper not in {"PARTITION", "DISTRIBUTION"}:
            self.next()
            return self._placed(first, path, word == "MODIFY", if_exists)
        if word == "DROP" and self.peek().upper not in {"PARTITION", "DISTRIBUTION"}:
            self.next()
            return self._dropped(first, path, if_exists)
        if self.accept("RENAME"):
            column = self.name()
            self.expect("TO")
            name = self.name()
            return RenameColumn(path, column, name, if_exists, span=self.since(first.span))
        if self.accept("SET"):
            options = self.any_in_parentheses(self.option)
            return AlterOptions(path, options, None, if_exists, span=self.since(first.span))
        if self.accept("RESET"):
            keys = self.any_in_parentheses(self.string)
            return AlterOptions(path, (), keys, if_exists, span=self.since(first.span))
        what = f"ALTER TABLE ... {word} {self.peek().upper}".rstrip()
        return not_yet(what, first.span, "Use CREATE and DROP.")

    def _placed(self, first: Token, path: tuple[str, ...], modify: bool, exists: bool) -> Statement:
        """Read the columns, the watermark and the key of ADD or MODIFY."""
        self._columns, self._watermarks, self._primary_key = [], [], None
        placed: list[PlacedColumn] = []

        def element() -> None:
            before = len(self._columns)
            self._element()
            if len(self._columns) > before:
                placed.append(self._place())

        if self.at("("):
            self.in_parentheses(element)
        else:
            element()
        return AlterColumns(
            path,
            modify,
            tuple(placed),
            tuple(self._watermarks),
            self._primary_key,
            exists,
            span=self.since(first.span),
        )

    def _place(self) -> PlacedColumn:
        definition = self._columns[-1]
        if self.accept("FIRST"):
            return PlacedColumn(definition, first=True)
        if self.accept("AFTER"):
            return PlacedColumn(definition, after=self.name())
        return PlacedColumn(definition)

    def _dropped(self, first: Token, path: tuple[str, ...], exists: bool) -> Statement:
        columns: tuple[str, ...] = ()
        constraint = None
        watermark, key = self.accept("WATERMARK"), False
        if not watermark:
            key = self.accept("PRIMARY", "KEY")
            if self.accept("CONSTRAINT"):
                key, constraint = True, self.name()
        if not watermark and not key:
            columns = self.in_parentheses(self.name) if self.at("(") else (self.name(),)
        return DropColumns(
            path, columns, watermark, key, constraint, exists, span=self.since(first.span)
        )
