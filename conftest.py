"""Sorts all tests into tiers, and fails a run that skips what it should not.

`-m unit` runs the tests that take milliseconds. `--expected-skips-only` is for CI. The tests with
the mark `nightly` run if CRASH_POINTS is `all`.
"""

from __future__ import annotations

import gc
import os
import re
from collections.abc import Generator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent
ON_SPARK = ROOT / "tests" / "spark"
COMPATIBILITY = ROOT / "compat_tests"
# The fixtures that start servers, by the folder of the tests.
SERVERS = {
    "connectors": {
        "any_kafka", "aws", "channel", "database", "kafka", "kinesis", "mock", "mysql", "port",
        "queue", "search",
    },
    "faults": {"kafka"},
    "filesystem": {"aws", "ftp", "place", "sftp"},
}  # fmt: skip
TIERS = {
    "unit": "needs neither Spark nor a server, and takes milliseconds",
    "server": "starts a server of its own, such as a broker or a database",
    "spark": "runs jobs on Spark",
    "slow": "takes seconds",
}
NIGHTLY = pytest.mark.skip("a run of all faults has it")

# Why CI may skip a test. Everything else that is missing there is a mistake of the installation.
EXPECTED_SKIPS = {
    r"PYFLINK_PYTHON is not set": "PyFlink needs an environment of its own",
    r"needs Chromium": "no browser is installed for the page",
    r"flink-rest-client": "its wheel has a package tests, which would hide this one",
    r"needs systemd-analyze": "a container without systemd",
    r"s3fs, of the last years": "it pins botocore to a version that moto and boto3 do not take",
    r"needs Linux's /proc": "another system",
    r"no file system can be mounted here": "only root can",
    r"network namespace|bridge can be made|iproute2": "only root can, and not in each container",
    r"this machine has no IPv6": "a container without it",
    r"\(Debian: apt-get install [\w-]+\)": ".ci/run installs servers only where it is root",
    r"a run of all faults has it": "tox -e faults runs it",
    r"a job in this process writes no checkpoints": "the test is one of Spark",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of CI."""
    text = "fail if a test is skipped for a reason that EXPECTED_SKIPS does not have"
    parser.addoption("--expected-skips-only", action="store_true", help=text)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the tiers."""
    for tier, meaning in TIERS.items():
        config.addinivalue_line("markers", f"{tier}: {meaning}")
    config.addinivalue_line("markers", "nightly: needs half a minute of a machine, for drivers")
    if config.getoption("--expected-skips-only"):
        config.pluginmanager.register(_SkipCheck(), "skip-check")


class _SkipCheck:
    """Notes unexpected skips, also those of xdist's workers, and fails the run."""

    def __init__(self) -> None:
        self._unexpected: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped and not hasattr(report, "wasxfail"):
            self._note(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.skipped:
            self._note(report)

    def _note(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        longrepr = report.longrepr
        reason = str(longrepr[2] if isinstance(longrepr, tuple) else longrepr)
        if not any(re.search(expected, reason) for expected in EXPECTED_SKIPS):
            self._unexpected.append(f"{report.nodeid}: {reason}")

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._unexpected and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._unexpected:
            terminalreporter.section("skipped, which was not expected")
            for line in sorted(self._unexpected):
                terminalreporter.line(line)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no tests on Spark if only the unit tier is wanted."""
    if config.option.markexpr != "unit":
        return None
    return not _on_spark(config).isdisjoint({collection_path, *collection_path.parents}) or None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark each test with its tier."""
    on_spark = _on_spark(config)
    parents: dict[Path, set[Path]] = {}
    for item in items:
        if item.path not in parents:
            parents[item.path] = set(item.path.parents)
        if os.environ.get("CRASH_POINTS") != "all" and item.get_closest_marker("nightly"):
            item.add_marker(NIGHTLY)
        if not on_spark.isdisjoint(parents[item.path]):
            item.add_marker("spark")
        elif not _servers(item).isdisjoint(getattr(item, "fixturenames", ())):
            item.add_marker("server")
        elif item.get_closest_marker("slow") is None:
            item.add_marker("unit")
    if hasattr(config, "workerinput"):
        _sort_for_workers(items)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the garbage collector from looking at thousands of tests again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


def _sort_for_workers(items: list[pytest.Item]) -> None:
    """Sort the files of tests that run side by side.

    Long files come first, since small files at the end keep all workers busy until then. The tests
    of compatibility compute and those with servers wait: their files alternate.
    """
    long = {item.path for item in items if item.get_closest_marker("slow") is not None}
    files = dict.fromkeys(item.path for item in items)
    places: dict[Path, float] = {}
    for on_spark in (True, False):
        group = [file for file in files if (COMPATIBILITY in file.parents) is on_spark]
        places |= {file: place / len(group) for place, file in enumerate(group)}
    items.sort(
        key=lambda item: (
            item.path not in long and ON_SPARK not in item.path.parents,
            places[item.path],
        )
    )


def _servers(item: pytest.Item) -> set[str]:
    if not item.path.is_relative_to(ROOT / "tests"):
        return set()
    return SERVERS.get(item.path.relative_to(ROOT / "tests").parts[0], set())


def _on_spark(config: pytest.Config) -> set[Path]:
    on_local = config.getoption("--engine", "spark") != "spark"
    return {ON_SPARK} if on_local else {ON_SPARK, COMPATIBILITY}
