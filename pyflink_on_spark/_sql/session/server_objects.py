"""Objects of a catalog outside of the session, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from typing import Any, NoReturn, TypeVar

from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._sql.catalog import Database, Relation

_V = TypeVar("_V")


class ServerObjects(MutableMapping[str, _V]):
    """Objects by name, which statements cannot change.

    Args:
        kind: the kind of the catalog.
        names: gives the names.
        find: gives an object; None if there is none of that name.
    """

    def __init__(
        self, kind: str, names: Callable[[], list[str]], find: Callable[[str], _V | None]
    ) -> None:
        self._kind, self._names, self._find = kind, names, find

    def __getitem__(self, name: str) -> _V:
        found = self._find(name)
        if found is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())

    def __setitem__(self, name: str, value: _V) -> None:
        refuse_change(self._kind)

    def __delitem__(self, name: str) -> None:
        refuse_change(self._kind)


_WAYS_OUT = {
    "jdbc": (
        "it shows what the server has, as Flink's does",
        "Change tables in the database, or use CREATE TEMPORARY TABLE, VIEW or FUNCTION.",
    ),
    "iceberg": (
        "it has tables of Iceberg only",
        "Use CREATE TEMPORARY VIEW, FUNCTION or TABLE, or another catalog.",
    ),
}


def refuse_change(kind: str) -> NoReturn:
    """Raise the error of a statement that would change what a catalog cannot change.

    Args:
        kind: the kind of the catalog.

    Raises:
        UnsupportedFlinkFeature: always.
    """
    reason, instead = _WAYS_OUT[kind]
    raise_unsupported(
        f"a change of a catalog of type '{kind}'", kind=Gap.NEVER, reason=reason, instead=instead
    )


class ServerDatabase(Database):
    """A database outside of the session.

    Args:
        kind: the kind of the catalog.
        relations: its tables.
        properties: those that it has.
    """

    def __init__(
        self,
        kind: str,
        relations: MutableMapping[str, Relation],
        properties: dict[str, str] | None = None,
    ) -> None:
        super().__init__(
            relations, properties or {}, functions=_nothing(kind), models=_nothing(kind)
        )

    def views(self) -> list[str]:
        """The names of views: those of a server are tables, or not shown."""
        return []


def _nothing(kind: str) -> ServerObjects[Any]:
    return ServerObjects(kind, list, lambda _: None)
