"""Kills a job from files to PostgreSQL again and again; checks the rows of the tables.

    python -m tests.faults.jdbc_soak --kills 10

The soak of `soak.py` with `jdbc_job.py`. The server is a new one, which nobody kills; but sessions
of the database are ended as an administrator ends them.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from pathlib import Path

from tests.connectors.jdbc.postgresql_server import Server, postgresql
from tests.faults.disturbed import Plan, arguments, run_command
from tests.faults.soak import Soak

JOB = Path(__file__).with_name("jdbc_job.py")
TABLES = ("counts", "windows")
OTHER_SESSIONS = "FROM pg_stat_activity WHERE pid <> pg_backend_pid()"


class JdbcSoak(Soak):
    """One run, from files to tables.

    Args:
        server: of the tables.
        plan: what to do.
        choose: decides when to kill what.
        tell: gets a line for each kill.
    """

    def __init__(
        self,
        server: Server,
        plan: Plan,
        choose: random.Random,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        super().__init__(plan, choose, tell)
        self._server, self._connection = server, server.connect()
        for table in TABLES:
            self._connection.execute(f"CREATE TABLE {table} (line TEXT)")

    def _job(self) -> list[str]:
        return [str(JOB), str(self._input), str(self._output), "--url", self._server.url]

    def _strike_other(self, what: str, how: str) -> bool:
        self._connection.execute(f"SELECT pg_terminate_backend(pid) {OTHER_SESSIONS}")
        return super()._strike_other(what, how)

    def _count_seen(self) -> int:
        (seen,) = self._connection.execute("SELECT count(*) FROM counts").fetchone()
        return seen

    def _check(self, events: int) -> None:
        windows = self._check_counts_and_windows(events)
        places = " and ".join(TABLES)
        self._report.records = f"{events} events, {windows} windows, in the tables {places}"

    def _lines(self, what: str) -> list[str]:
        return [line for (line,) in self._connection.execute(f"SELECT line FROM {what}")]


def main() -> int:
    """Run it as the command line says; the exit code is 1 if something is wrong."""
    options = arguments(__doc__).parse_args()
    with postgresql() as server:
        return run_command(options, lambda *args: JdbcSoak(server, *args))


if __name__ == "__main__":
    sys.exit(main())
