"""One Spark for all tests of this folder: starting it takes longer than most of them."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def spark():
    """The session that jobs get, with two tasks at a time."""
    from pyflink_on_spark._spark.session import obtain_session

    session = obtain_session({"spark.master": "local[2]"})
    yield session
    session.stop()
