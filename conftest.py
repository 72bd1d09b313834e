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


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no tests on Spark if only the unit tier is wanted."""
    if config.option.markexpr != "unit":
        return None
    return not _on_spark(config).isdisjoint({collection_path, *collection_path.parents}) or None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark each test with its tier."""
    on_spark = _on_spark(config)
    for item in items:
        if not on_spark.isdisjoint(item.path.parents):
            item.add_marker("spark")
        elif not SERVERS.isdisjoint(getattr(item, "fixturenames", ())):
            item.add_marker("server")
        elif item.get_closest_marker("slow") is None:
            item.add_marker("unit")


def _on_spark(config: pytest.Config) -> set[Path]:
    on_local = config.getoption("--engine", "spark") != "spark"
    return {ON_SPARK} if on_local else {ON_SPARK, COMPATIBILITY}
