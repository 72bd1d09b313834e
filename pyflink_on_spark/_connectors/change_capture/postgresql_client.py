"""Changes of PostgreSQL: a replication slot of the plug-in pgoutput, read by functions of SQL."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from pyflink_on_spark._compat.optional_package import optional_package
from pyflink_on_spark._connectors.change_capture.config import (
    AFTER,
    BEFORE,
    DELETED,
    INSERTED,
    CaptureConfig,
    CaptureError,
    Element,
    Position,
)

_AT_ONCE = 5000
_EPOCH_MS = 946_684_800_000
"""The beginning of the year 2000, from which PostgreSQL counts microseconds."""
_SETTINGS = (
    "SET datestyle = 'ISO'; SET timezone = 'UTC'; SET extra_float_digits = 3; "
    "SET bytea_output = 'hex'; SET intervalstyle = 'iso_8601'"
)
_UNCHANGED = object()


@dataclass(frozen=True)
class WalPlace:
    """A place in the write-ahead log.

    Args:
        end: the end of the last transaction that was read, as a number.
        visible: the transactions that the snapshot has, as PostgreSQL writes them; or empty.
    """

    end: int
    visible: str = ""

    def has(self, transaction: int) -> bool:
        """True if the snapshot has the rows of a transaction."""
        if not self.visible:
            return False
        _, most, running = self.visible.split(":")
        largest = int(most)
        # A transaction in the log has only the lower half of its number.
        full = (largest & ~0xFFFFFFFF) | transaction
        if full > largest + 2**31:
            full -= 2**32
        return full < largest and str(full) not in running.split(",")


class PostgreSqlClient:
    """Connections to PostgreSQL: one that reads the log, and at first one that reads the rows.

    Args:
        config: the table.

    Raises:
        CaptureError: the server cannot be reached, or does not log changes.
    """

    def __init__(self, config: CaptureConfig) -> None:
        self._config = config
        self._psycopg: Any = optional_package(
            "psycopg", "psycopg[binary]", "the changes of PostgreSQL", "cdc"
        )
        self._rows: Any = None
        self._log: Any = self._connect(autocommit=True)
        self._control: Any = self._connect(autocommit=True)
        self._publication = f"{config.slot}_{config.table}"[:63]
        self._looked_at = -1
        (level,) = self._one("SHOW wal_level")
        if level != "logical":
            raise CaptureError(
                f"{config.host}:{config.port} does not log changes: set wal_level = logical in "
                "postgresql.conf, and start PostgreSQL again"
            )
        self._check_identity()

    def start(self) -> tuple[WalPlace, Iterator[Sequence[Element]]]:
        """Make the slot, and return its place and the rows that the table has then."""
        config = self._config
        self._publish()
        if not self._one(
            "SELECT count(*) FROM pg_replication_slots WHERE slot_name = %s", config.slot
        )[0]:
            self._one(
                "SELECT pg_create_logical_replication_slot(%s, 'pgoutput')::text", config.slot
            )
        if not config.snapshot:
            return WalPlace(self._end_of_log()), iter(())
        self._rows = self._connect(autocommit=False)
        self._rows.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        (visible,) = self._rows.execute("SELECT pg_current_snapshot()::text").fetchone()
        return WalPlace(0, visible), self._table_rows()

    def changes(self, position: Position) -> Iterator[tuple[Element | None, Position]]:
        """Yield the changes after a position, and at last the position where it has looked."""
        config, place = self._config, position.log
        now = self._end_of_log()
        if now == self._looked_at:
            return
        sql = (
            "SELECT data FROM pg_logical_slot_peek_binary_changes(%s, NULL, NULL, "
            "'proto_version', '1', 'publication_names', %s)"
        )
        decoder = Decoder(config, place)
        skip = position.skip
        with self._log.cursor(binary=True) as cursor:
            for (message,) in cursor.stream(sql, (config.slot, _quoted(self._publication))):
                for element, after in decoder.decode(message):
                    if skip:
                        skip -= 1
                        continue
                    yield element, after
        self._looked_at = now
        # Transactions may have come since then: the place must not go back before them.
        yield None, Position(WalPlace(max(now, decoder.place.end), place.visible))

    def release(self, log: WalPlace) -> None:
        """Advance the slot."""
        if log.end:
            place = f"{log.end >> 32:X}/{log.end & 0xFFFFFFFF:X}"
            self._one(
                "SELECT count(pg_replication_slot_advance(slot_name, %s::pg_lsn)) FROM "
                "pg_replication_slots WHERE slot_name = %s AND confirmed_flush_lsn < %s::pg_lsn",
                place, self._config.slot, place,
            )  # fmt: skip

    def close(self) -> None:
        """Close the connections; the slot stays for a restart."""
        for connection in (self._rows, self._log, self._control):
            if connection is not None:
                with suppress(self._psycopg.Error):
                    connection.close()

    def _publish(self) -> None:
        """Add the table to the publication of the slot, which may be there of a former job."""
        publication, config = _quoted(self._publication), self._config
        (known,) = self._one(
            "SELECT count(*) FROM pg_publication_tables WHERE pubname = %s AND schemaname = %s "
            "AND tablename = %s",
            self._publication, config.schema, config.table,
        )  # fmt: skip
        if known:
            return
        (there,) = self._one(
            "SELECT count(*) FROM pg_publication WHERE pubname = %s", self._publication
        )
        verb, form = ("ALTER", "ADD") if there else ("CREATE", "FOR")
        try:
            self._control.execute(f"{verb} PUBLICATION {publication} {form} TABLE {self._table}")
        except self._psycopg.Error as error:
            raise CaptureError(f"cannot read {config.place}: {error}") from error

    def _end_of_log(self) -> int:
        (now,) = self._one("SELECT pg_current_wal_flush_lsn() - '0/0'::pg_lsn")
        return int(now)

    @property
    def _table(self) -> str:
        return f"{_quoted(self._config.schema)}.{_quoted(self._config.table)}"

    def _connect(self, *, autocommit: bool) -> object:
        config = self._config
        try:
            connection = self._psycopg.connect(
                host=config.host, port=config.port, user=config.user, password=config.password,
                dbname=config.database, autocommit=True,
            )  # fmt: skip
            connection.execute(_SETTINGS)
            connection.autocommit = autocommit
        except self._psycopg.Error as error:
            raise CaptureError(f"cannot read {config.place}: {error}") from error
        return connection

    def _one(self, sql: str, *parameters: object) -> Any:
        try:
            return self._control.execute(sql, parameters or None).fetchone()
        except self._psycopg.Error as error:
            raise CaptureError(f"cannot read {self._config.place}: {error}") from error

    def _check_identity(self) -> None:
        found = self._one(
            "SELECT c.relreplident::text FROM pg_class c JOIN pg_namespace n ON n.oid = "
            "c.relnamespace WHERE n.nspname = %s AND c.relname = %s",
            self._config.schema, self._config.table,
        )  # fmt: skip
        if found is None:
            raise CaptureError(f"there is no {self._config.place.removeprefix('the ')}")
        if found[0] != "f":
            raise CaptureError(
                f"{self._config.place} does not log the rows before its changes: ALTER TABLE "
                f"{self._table} REPLICA IDENTITY FULL"
            )

    def _table_rows(self) -> Iterator[Sequence[Element]]:
        listed = ", ".join(f"{_quoted(name)}::text" for name in self._config.columns)
        with self._rows.cursor(name="rows") as cursor:
            cursor.execute(f"SELECT {listed} FROM {self._table}")
            while rows := cursor.fetchmany(_AT_ONCE):
                yield [(INSERTED, tuple(row), 0) for row in rows]
        self._rows.close()


@dataclass
class Decoder:
    """Makes changes of the messages of pgoutput, version 1.

    Args:
        config: the table.
        place: where reading begins.
    """

    config: CaptureConfig
    place: WalPlace
    _order: dict[int, list[int]] = field(default_factory=dict)
    _visible: bool = False
    _time: int = 0
    _waiting: list[bytes] = field(default_factory=list)

    def decode(self, message: bytes) -> Iterator[tuple[Element, Position]]:
        """Yield the changes of a transaction when its last message comes.

        Raises:
            CaptureError: the table has no column of a name, or no complete rows.
        """
        kind = message[:1]
        if kind == b"B":
            _, micros, transaction = struct.unpack_from(">qqI", message, 1)
            self._time = micros // 1000 + _EPOCH_MS
            self._visible = self.place.has(transaction)
            self._waiting = []
        elif kind == b"C":
            _, _, end, _ = struct.unpack_from(">bqqq", message, 1)
            yield from self._transaction(end)
        elif kind in b"RIUD":
            self._waiting.append(message)

    def _transaction(self, end: int) -> Iterator[tuple[Element, Position]]:
        """Yield the changes of a transaction, unless they were read.

        Only its end tells. A place that was the end of the log can lie in the middle of the record
        with which a transaction commits.
        """
        new = end > self.place.end and not self._visible
        found: list[Element] = []
        for message in self._waiting:
            if message[:1] == b"R":
                self._relation(message)
            elif new:
                found += self._row_change(message[:1], message)
        for number, element in enumerate(found, 1):
            if number == len(found):
                self.place = WalPlace(end, self.place.visible)
                yield element, Position(self.place)
            else:
                yield element, Position(self.place, number)

    def _relation(self, message: bytes) -> None:
        (relation,) = struct.unpack_from(">I", message, 1)
        place = message.index(b"\0", message.index(b"\0", 5) + 1) + 2
        (count,) = struct.unpack_from(">h", message, place)
        place += 2
        names = []
        for _ in range(count):
            end = message.index(b"\0", place + 1)
            names.append(message[place + 1 : end].decode())
            place = end + 9
        missing = set(self.config.columns) - set(names)
        if missing:
            raise CaptureError(f"{self.config.place} has no column {', '.join(sorted(missing))}")
        self._order[relation] = [names.index(name) for name in self.config.columns]

    def _row_change(self, kind: bytes, message: bytes) -> list[Element]:
        (relation,) = struct.unpack_from(">I", message, 1)
        order, place = self._order[relation], 5
        rows: dict[bytes, list[Any]] = {}
        while place < len(message):
            word = message[place : place + 1]
            rows[word], place = _values(message, place + 1)
        old, new = rows.get(b"O"), rows.get(b"N")
        if kind != b"I" and old is None:
            raise CaptureError(
                f"{self.config.place} does not log the rows before its changes: set its REPLICA "
                "IDENTITY to FULL"
            )
        if new is not None and old is not None:
            new = [before if v is _UNCHANGED else v for v, before in zip(new, old, strict=True)]
        found: list[Element] = []
        for row, change in ((old, BEFORE if new else DELETED), (new, AFTER if old else INSERTED)):
            if row is not None:
                found.append((change, tuple([row[index] for index in order]), self._time))
        return found


def _values(message: bytes, place: int) -> tuple[list[Any], int]:
    """Return the values of a row, and the place after it."""
    (count,) = struct.unpack_from(">h", message, place)
    place += 2
    found: list[Any] = []
    for _ in range(count):
        kind = message[place : place + 1]
        place += 1
        if kind == b"t":
            (size,) = struct.unpack_from(">i", message, place)
            place += 4
            found.append(message[place : place + size].decode())
            place += size
        else:
            found.append(None if kind == b"n" else _UNCHANGED)
    return found, place


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
