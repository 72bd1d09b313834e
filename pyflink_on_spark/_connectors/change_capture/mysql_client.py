"""Changes of MySQL and MariaDB: the binary log, read as a replica reads it."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import suppress
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
        self._pymysql: Any = optional_package("pymysql", "PyMySQL", "the changes of MySQL", "cdc")
        self._package: Any = optional_package(
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
    def _address(self) -> dict[str, Any]:
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
        listed = ", ".join(map(_quoted, self._config.columns))
        with self._connection.cursor(self._pymysql.cursors.SSCursor) as cursor:
            cursor.execute(f"SELECT {listed} FROM {_quoted(self._config.table)}")
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


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"
