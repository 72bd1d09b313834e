"""Sorts all tests into tiers: `-m unit` runs those that take milliseconds."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent
ON_SPARK = ROOT / "tests" / "spark"
COMPATIBILITY = ROOT / "compat_tests"
SERVERS = {
    "any_kafka", "aws", "channel", "database", "ftp", "kafka", "kinesis", "mock", "mysql", "place",
    "port", "queue", "sftp",
}  # fmt: skip
TIERS = {
    "unit": "needs neither Spark nor a server, and takes milliseconds",
    "server": "starts a server of its own, such as a broker or a database",
    "spark": "runs jobs on Spark",
    "slow": "takes seconds",
}


def pytest_configure(config: pytest.Config) -> None:
    """Declare the tiers."""
    for tier, meaning in TIERS.items():
        config.addinivalue_line("markers", f"{tier}: {meaning}")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark each test with its tier."""
    on_spark = {ON_SPARK}
    if config.getoption("--engine", "spark") == "spark":
        on_spark.add(COMPATIBILITY)
    for item in items:
        if not on_spark.isdisjoint(item.path.parents):
            item.add_marker("spark")
        elif not SERVERS.isdisjoint(getattr(item, "fixturenames", ())):
            item.add_marker("server")
        elif item.get_closest_marker("slow") is None:
            item.add_marker("unit")
