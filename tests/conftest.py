"""Fixtures for all unit tests."""

from __future__ import annotations

import logging
import sys

import pytest
from hypothesis import HealthCheck, settings

from pyflink_on_spark._job.job import install_engine, installed_engine
from pyflink_on_spark._runtime.operators import inlining
from pyflink_on_spark.testing import LocalEngine
from tests.effort import share

# How long an example takes says more of the machine than of the code.
settings.register_profile(
    "any",
    max_examples=share(100),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("any")


@pytest.fixture(autouse=True, scope="session")
def the_engine_does_not_see_coverage():
    """Lets loops contain the code of functions, as they do where nobody watches.

    Others still see the tracer: doctest, for example, sets it again after each example.
    """
    if not _is_measured():
        yield
        return
    is_watched = inlining._is_watched

    def is_watched_by_others():
        return sys.getprofile() is not None if _is_measured() else is_watched()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inlining, "_is_watched", is_watched_by_others)
        yield
        # A tracer that got lost makes covered lines look untested.
        assert _is_measured()


def _is_measured():
    return type(sys.gettrace()).__module__.partition(".")[0] == "coverage"


@pytest.fixture(autouse=True)
def the_engine_of_before():
    """Leaves the engine to the next test as it was."""
    before = installed_engine()
    yield
    install_engine(before)


@pytest.fixture(autouse=True)
def the_log_level_of_before():
    """Leaves the package's log to the next test as it was: scripts set its level."""
    logger = logging.getLogger("pyflink_on_spark")
    before = logger.level
    yield
    logger.setLevel(before)


@pytest.fixture
def local_engine():
    """Makes jobs run in this process."""
    before = installed_engine()
    engine = LocalEngine()
    install_engine(engine)
    yield engine
    install_engine(before)
