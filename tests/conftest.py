"""What all unit tests may use."""

from __future__ import annotations

import pytest

from pyflink_on_spark._job.job import install_engine, installed_engine
from pyflink_on_spark.testing import LocalEngine


@pytest.fixture
def local_engine():
    """Makes jobs run in this process."""
    before = installed_engine()
    engine = LocalEngine()
    install_engine(engine)
    yield engine
    install_engine(before)
