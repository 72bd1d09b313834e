"""The sessions of a Spark Connect server in which jobs run; without Spark."""

from __future__ import annotations

import gc
import weakref
from types import SimpleNamespace

import pytest
from pyspark.errors import PySparkException

from pyflink_on_spark._spark.session.server_patience import Patience
from pyflink_on_spark._spark.structured import job_sessions
from pyflink_on_spark._spark.structured.job_sessions import JobSessions
from pyflink_on_spark._spark.structured.server_calls import ServerCall


class Session:
    """A session of a server."""

    def __init__(self) -> None:
        self.settings: dict[str, str] = {}
        self.artifacts: list[str] = []
        self.closed = self.lost = False
        self.sources: list[type] = []
        self.policies: list[Patience] = []
        self.released = 0
        self.client = SimpleNamespace(
            set_retry_policies=self._set_policies, release_session=self._release, close=self._close
        )
        self.dataSource = SimpleNamespace(register=self.sources.append)
        self.conf = SimpleNamespace(set=self.settings.__setitem__, get=self._get)

    def _get(self, key: str, default: str) -> str:
        if self.closed:
            raise PySparkException("[INVALID_HANDLE.SESSION_CLOSED]")
        return self.settings.get(key, default)

    def _set_policies(self, policies: list[Patience]) -> None:
        self.policies = policies

    def _release(self) -> None:
        self.released += 1
        if self.lost:
            raise PySparkException("no server answers")

    def _close(self) -> None:
        self.closed = True

    def newSession(self) -> Session:  # noqa: N802
        return Session()

    def addArtifacts(self, *paths: str, pyfile: bool) -> None:  # noqa: N802
        assert pyfile
        self.artifacts.extend(paths)


@pytest.fixture
def sessions(monkeypatch):
    monkeypatch.setattr(job_sessions, "packed_package", lambda: "package.zip")
    return JobSessions()


def test_jobs_without_files_share_a_session(sessions):
    users = Session()
    shared = sessions.of(users, {})
    assert shared is not users
    assert sessions.of(users, {"parallelism.default": "2"}) is shared
    assert shared.artifacts == ["package.zip"]
    assert shared.sources == [ServerCall]
    assert shared.settings["spark.sql.adaptive.enabled"] == "false"
    assert users.settings == {}
    assert users.policies == []


def test_a_session_waits_for_the_server_as_long_as_its_last_job_is_to(sessions):
    users = Session()
    waits = [
        sessions.of(users, {"pyflink-on-spark.connect-timeout": timeout}).policies[0].seconds
        for timeout in ("7 s", "2 min")
    ]
    assert waits == [7, 120]


def test_each_job_that_brings_files_has_a_session(sessions, tmp_path):
    (tmp_path / "mine.py").write_text("")
    brings, users = {"python.files": str(tmp_path / "mine.py")}, Session()
    shared = sessions.of(users, {})
    first, second = sessions.of(users, brings), sessions.of(users, brings)
    assert len({id(each) for each in (shared, first, second)}) == 3
    assert first.artifacts == second.artifacts == ["package.zip"]
    assert sessions.of(users, {}) is shared


@pytest.mark.parametrize("lost", [False, True])
def test_a_session_of_one_job_ends_with_it_and_nothing_keeps_it(sessions, tmp_path, lost):
    (tmp_path / "mine.py").write_text("")
    own = sessions.of(Session(), {"python.files": str(tmp_path / "mine.py")})
    own.lost = lost
    sessions.give_back(own)
    assert own.closed
    assert own.released == 1
    assert own.policies == []
    kept = weakref.ref(own)
    del own
    gc.collect()
    assert kept() is None


def test_a_session_of_several_jobs_stays(sessions):
    users = Session()
    shared = sessions.of(users, {})
    sessions.give_back(shared)
    assert not shared.closed
    assert sessions.of(users, {}) is shared


def test_another_session_of_the_program_has_another_one(sessions):
    assert sessions.of(Session(), {}) is not sessions.of(Session(), {})


def test_a_session_that_the_server_has_closed_is_replaced(sessions):
    users = Session()
    shared = sessions.of(users, {})
    shared.closed = True
    kept = weakref.ref(shared)
    again = sessions.of(users, {})
    assert again is not shared
    del shared
    gc.collect()
    assert kept() is None
    assert again.artifacts == ["package.zip"]
