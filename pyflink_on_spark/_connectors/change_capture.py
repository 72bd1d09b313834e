"""The rows of a database's table, and then the changes of them."""

from __future__ import annotations

import enum
import random
import struct
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Protocol

from pyflink_on_spark._compat.optional_package import optional_package
from pyflink_on_spark._runtime.contract.connector import Source, SourceReader
from pyflink_on_spark._runtime.elements.bundle import Bundle

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext

Element = tuple[int, tuple[object, ...], int]
"""A change: its kind, the values as the database gives them, and its time in ms."""

INSERTED, BEFORE, AFTER, DELETED = range(4)
"""The kinds of changes, numbered as those of tables."""


class Kind(enum.Enum):
    """The databases whose changes can be read."""

    MYSQL = "mysql"
    POSTGRESQL = "postgresql"


class CaptureError(RuntimeError):
    """The database refuses to say its changes, or says them incompletely."""


@dataclass(frozen=True)
class CaptureConfig:
    """A captured table.

    Args:
        kind: of the database.
        host: of the server.
        port: of the server.
        user: the name of the user.
        password: the password of the user.
        database: the table's.
        schema: the table's; empty for MySQL.
        table: its name.
        columns: what is read, in this order.
        snapshot: whether the rows that are there come before the changes.
        slot: the name of PostgreSQL's replication slot; empty for MySQL.
        server_id: of the replica that MySQL takes the reader for; 0 for any.
    """

    kind: Kind
    host: str
    port: int
    user: str
    password: str = field(repr=False)
    database: str
    schema: str
    table: str
    columns: tuple[str, ...]
    snapshot: bool = True
    slot: str = ""
    server_id: int = 0

    @property
    def place(self) -> str:
        """The table, for messages."""
        names = (self.database, self.schema, self.table)
        return f"the table {'.'.join(filter(None, names))} of {self.host}:{self.port}"


@dataclass(frozen=True)
class Position:
    """The place of the next element.

    Args:
        log: the place of a transaction in the log of changes, as the database has it.
        skip: how many elements of the transactions from there on were read.
        rows: the rows of the snapshot that were not read, before all changes.
    """

    log: Any
    skip: int = 0
    rows: tuple[Element, ...] = ()


class CaptureClient(Protocol):
    """A connection to a database that can say its changes."""

    def start(self) -> tuple[object, Iterator[Sequence[Element]]]:
        """Return the place of the first change, and the rows before it, some thousand at a time."""
        ...

    def changes(self, position: Position) -> Iterator[tuple[Element | None, Position]]:
        """Yield the changes from a position on, each with the position after it.

        It ends where there are no more at the moment; None stands for no change.
        """
        ...

    def release(self, log: Any) -> None:
        """Let the database forget the changes before a place."""
        ...

    def close(self) -> None:
        """Close all connections."""
        ...


_SECONDS_TO_WAIT = 0.05


class CaptureReader(SourceReader):
    """Reads one table.

    Args:
        config: the table.
        position: where it continues; None for the beginning.
        client: the connection to the database; a new one if not given.
        pause: waits some seconds.
    """

    def __init__(
        self,
        config: CaptureConfig,
        position: Position | None,
        client: CaptureClient | None = None,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._client = open_client(config) if client is None else client
        self._pause = pause
        self._kept: deque[tuple[int, object]] = deque()
        rows: Iterator[Sequence[Element]]
        if position is None:
            log, rows = self._client.start()
            position = Position(log)
        else:
            rows = iter([position.rows])
        self._position = Position(position.log, position.skip)
        self._rows: Iterator[Element] | None = chain.from_iterable(rows)
        self._changes: Iterator[tuple[Element | None, Position]] | None = None

    def poll(self) -> Bundle | None:
        """Return the next rows, or changes."""
        if self._rows is not None:
            rows = list(islice(self._rows, self.limit))
            if rows:
                return Bundle(rows)
            self._rows = None
        if self._changes is None:
            self._changes = self._client.changes(self._position)
        found = list(islice(self._changes, self.limit))
        if not found:
            self._changes = None
            self._pause(_SECONDS_TO_WAIT)
            return None
        self._position = found[-1][1]
        elements = [element for element, _ in found if element is not None]
        return Bundle(elements) if elements else None

    def snapshot(self) -> list[Position]:
        """Return the position, with the rows that are left of the snapshot."""
        rows: tuple[Element, ...] = ()
        if self._rows is not None:
            rows = tuple(self._rows)
            self._rows = iter(rows)
        return [Position(self._position.log, self._position.skip, rows)]

    def prepare_checkpoint(self, checkpoint_id: int) -> None:
        """Keep the place that the database may forget what is before, once it is complete."""
        self._kept.append((checkpoint_id, self._position.log))

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """Let the database forget what no restart needs."""
        while self._kept and self._kept[0][0] <= checkpoint_id:
            number, log = self._kept.popleft()
            if number == checkpoint_id:
                self._client.release(log)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def open_client(config: CaptureConfig) -> CaptureClient:
    """Connect to the database of a table.

    Args:
        config: the table.

    Raises:
        CaptureError: it cannot be reached, or does not log its changes.
    """
    if config.kind is Kind.MYSQL:
        return MySqlClient(config)

    return PostgreSqlClient(config)


class CaptureSource(Source):
    """Reads the rows of a table, then their changes, in one subtask.

    A position is a place in the log of changes. While the rows are read that were there at the
    beginning, a checkpoint keeps those that are left: they cannot be read again as they were.

    Args:
        config: the table.
    """

    bounded = False
    timestamped = False
    parallel = False

    def __init__(self, config: CaptureConfig) -> None:
        self._config = config

    def splits(self, parallelism: int) -> list[CaptureConfig]:
        """Return the one split."""
        return [self._config]

    def reader(
        self, splits: Sequence[object], restored: Sequence[Any] | None, context: OperatorContext
    ) -> SourceReader:
        """Return the reader, which begins with the rows if it continues from nowhere."""
        return CaptureReader(self._config, restored[0] if restored else None)


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
        self._psycopg = optional_package(
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
        rows: dict[bytes, list[object]] = {}
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


def _values(message: bytes, place: int) -> tuple[list[object], int]:
    """Return the values of a row, and the place after it."""
    (count,) = struct.unpack_from(">h", message, place)
    place += 2
    found: list[object] = []
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


_LARGEST_ID = 2**31
BinlogPlace = tuple[str, int]
"""The file of the binary log, and the place in it."""


class MySqlClient:
    """Connections to MySQL or MariaDB.

    Args:
        config: the table.

    Raises:
        CaptureError: the server cannot be reached, or does not log rows.
    """

    def __init__(self, config: CaptureConfig) -> None:
        self._config = config
        self._pymysql = optional_package("pymysql", "PyMySQL", "the changes of MySQL", "cdc")
        self._package = optional_package(
            "pymysqlreplication", "mysql-replication", "the changes of MySQL", "cdc"
        )
        # A replica has a number that no other one has.
        self._server_id = config.server_id or random.randrange(_LARGEST_ID // 2, _LARGEST_ID)
        self._connection: Any = self._connect()
        self._looked_at: BinlogPlace | None = None
        for name, wanted in (("log_bin", {"1", "ON"}), ("binlog_format", {"ROW"})):
            (found,) = self._one(f"SELECT @@GLOBAL.{name}")
            if str(found).upper() not in wanted:
                raise CaptureError(
                    f"{config.host}:{config.port} does not log the rows of changes: start it with "
                    "--log-bin --binlog-format=ROW --binlog-row-image=FULL"
                )
        self._order = self._column_order()

    def start(self) -> tuple[BinlogPlace, Iterator[Sequence[Element]]]:
        """Return the place in the log, and the rows that the table has at that place."""
        if not self._config.snapshot:
            return self._end_of_log(), iter(())
        try:
            self._all("FLUSH TABLES WITH READ LOCK")
            self._all("START TRANSACTION WITH CONSISTENT SNAPSHOT")
            place = self._end_of_log()
            self._all("UNLOCK TABLES")
        except BaseException:
            self.close()  # which gives the lock back
            raise
        return place, self._table_rows()

    def changes(self, position: Position) -> Iterator[tuple[Element | None, Position]]:
        """Yield the changes after a position, and at last the position where it has looked."""
        end = self._end_of_log()
        if end == self._looked_at:
            return
        stream = self._stream(position.log)
        try:
            yield from self._of_stream(stream, position)
        except self._pymysql.Error as error:
            raise CaptureError(f"cannot read {self._config.place}: {error}") from error
        finally:
            stream.close()
        self._looked_at = end

    def release(self, log: BinlogPlace) -> None:
        """Do nothing: the server keeps its log for a set time."""

    def close(self) -> None:
        """Close the connection."""
        with suppress(self._pymysql.Error):
            self._connection.close()

    def _connect(self) -> object:
        config = self._config
        try:
            return self._pymysql.connect(
                **self._address, database=config.database, autocommit=True, charset="utf8mb4",
                init_command="SET time_zone = '+00:00'",
            )  # fmt: skip
        except self._pymysql.Error as error:
            raise CaptureError(f"cannot read {config.place}: {error}") from error

    @property
    def _address(self) -> dict[str, object]:
        config = self._config
        return {
            "host": config.host,
            "port": config.port,
            "user": config.user,
            "password": config.password,
        }

    def _all(self, sql: str, *parameters: object) -> Any:
        try:
            with self._connection.cursor() as cursor:
                cursor.execute(sql, parameters or None)
                return cursor.fetchall()
        except self._pymysql.Error as error:
            raise CaptureError(f"cannot read {self._config.place}: {error}") from error

    def _one(self, sql: str, *parameters: object) -> Any:
        return self._all(sql, *parameters)[0]

    def _end_of_log(self) -> BinlogPlace:
        try:
            with self._connection.cursor() as cursor:
                try:
                    cursor.execute("SHOW MASTER STATUS")
                except self._pymysql.err.ProgrammingError:  # MySQL 8.4 has another name for it
                    cursor.execute("SHOW BINARY LOG STATUS")
                file, place, *_ = cursor.fetchone()
        except self._pymysql.Error as error:
            raise CaptureError(f"cannot read {self._config.place}: {error}") from error
        return file, place

    def _column_order(self) -> list[int]:
        """Return the positions of the wanted columns among all of the table."""
        found = self._all(
            "SELECT column_name FROM information_schema.columns WHERE table_schema = %s AND "
            "table_name = %s ORDER BY ordinal_position",
            self._config.database, self._config.table,
        )  # fmt: skip
        names = [name for (name,) in found]
        missing = [name for name in self._config.columns if name not in names]
        if missing:
            raise CaptureError(f"{self._config.place} has no column {', '.join(missing)}")
        return [names.index(name) for name in self._config.columns]

    def _table_rows(self) -> Iterator[Sequence[Element]]:
        listed = ", ".join(map(_in_backticks, self._config.columns))
        with self._connection.cursor(self._pymysql.cursors.SSCursor) as cursor:
            cursor.execute(f"SELECT {listed} FROM {_in_backticks(self._config.table)}")
            while rows := cursor.fetchmany(_AT_ONCE):
                yield [(INSERTED, tuple(row), 0) for row in rows]
        self._connection.commit()

    def _stream(self, log: BinlogPlace) -> Any:
        rows, events = self._package.row_event, self._package.event
        self._kinds = {"write": rows.WriteRowsEvent, "update": rows.UpdateRowsEvent}
        self._ends = (events.XidEvent, events.QueryEvent, events.RotateEvent)
        return self._package.BinLogStreamReader(
            connection_settings=self._address,
            pymysql_wrapper=self._connection_of_stream,
            server_id=self._server_id,
            log_file=log[0],
            log_pos=log[1],
            resume_stream=True,
            blocking=False,
            only_events=[rows.DeleteRowsEvent, *self._kinds.values(), *self._ends],
            only_schemas=[self._config.database],
            only_tables=[self._config.table],
        )

    def _connection_of_stream(self, **settings: object) -> object:
        if "db" in settings:  # the former name of the argument
            settings["database"] = settings.pop("db")
        return self._pymysql.connect(**settings)

    def _of_stream(
        self, stream: Any, position: Position
    ) -> Iterator[tuple[Element | None, Position]]:
        log, skip, read = position.log, position.skip, 0
        for event in stream:
            if isinstance(event, self._ends):
                # The end of a transaction, or of a statement without one; BEGIN is neither.
                place = (stream.log_file, stream.log_pos)
                if place != log and getattr(event, "query", None) not in {"BEGIN", b"BEGIN"}:
                    log, skip, read = place, 0, 0
                continue
            for element in self._elements(event):
                read += 1
                if read > skip:
                    yield element, Position(log, read)
        yield None, Position(log, max(read, skip))

    def _elements(self, event: Any) -> Iterator[Element]:
        moment = event.timestamp * 1000
        for row in event.rows:
            if isinstance(event, self._kinds["update"]):
                yield BEFORE, self._ordered(row["before_values"]), moment
                yield AFTER, self._ordered(row["after_values"]), moment
            else:
                written = isinstance(event, self._kinds["write"])
                yield INSERTED if written else DELETED, self._ordered(row["values"]), moment

    def _ordered(self, values: dict[str, object]) -> tuple[object, ...]:
        found = list(values.values())
        return tuple([found[index] for index in self._order])


def _in_backticks(name: str) -> str:
    return f"`{name.replace('`', '``')}`"
