"""Chooses the engine that the tests in this folder run on, and gives them an environment.

`--engine=spark` (the default), `--engine=structured` (queries of Structured Streaming),
`--engine=connect` (such queries on a Spark Connect server, which PySpark starts here),
`--engine=local` and `--engine=query` (such queries without a JVM, which fail and move) run on this
project, `--engine=pyflink` on the PyFlink that is installed. `--mode=continuous` cuts every job's
input into pieces, with a checkpoint after each; `--mode=restarted` also restarts the job from each
of these, or as a query on Spark from two of them. `--some-cases` leaves out most tests of tables
and two of three cases of the others, which a run of all tests has in-process, and with restarts
half of those of tables. A test knows nothing of this: it imports `pyflink` and compares.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from random import Random
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
ENGINES = ("spark", "structured", "connect", "pyflink", "local", "query")
QUERIES = {"structured", "connect", "query"}
MODES = {
    "whole": ENGINES,
    "continuous": ("spark", "structured", "connect", "local", "query"),
    "restarted": ("structured", "connect", "local"),
}
NEEDS = {"whole": "continuous", "one_attempt": "restarted"}
CUT = {
    "execution.checkpointing.interval": "10 ms",
    "pyflink-on-spark.checkpoint-elements": "2",
    "restart-strategy.type": "none",  # with checkpoints it is unlimited, where nothing else is said
    # Jobs of a few elements are over before the first watermark, in however many pieces.
    "pipeline.auto-watermark-interval": "0 ms",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--engine", choices=ENGINES, default="spark", help="what runs the jobs")
    text = "one of eight tests of tables, and one of three cases of each other test"
    parser.addoption("--some-cases", action="store_true", help=text)
    parser.addoption("--mode", choices=MODES, default="whole", help="where jobs are cut")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "pyflink_bug(reason, run=True): what real PyFlink 2.3.0 gets wrong; a strict xfail on "
        "engine pyflink, which is not even run if it would hang",
    )
    config.addinivalue_line(
        "markers", "timed: measures time, so that a machine with other work can make it fail"
    )
    for marker, mode in NEEDS.items():
        config.addinivalue_line("markers", f"{marker}(reason): cannot be in --mode={mode}")
    engine, mode = config.getoption("--engine"), config.getoption("--mode")
    if engine not in MODES[mode]:
        raise pytest.UsageError(f"--mode={mode} is for the engines {', '.join(MODES[mode])}")
    if engine == "pyflink":
        _start_pyflink(config)
        return
    import pyflink_on_spark
    from pyflink_on_spark._job.job import set_base_configuration

    pyflink_on_spark.install()
    options = _options(engine, mode)
    if options:
        set_base_configuration(options)
    if mode == "restarted" and engine != "local":
        _restart_queries(config)
    if engine == "connect":
        from pyflink_on_spark._spark.session import spark_defaults

        spark_defaults.command_line["spark.remote"] = "local[2]"
        os.environ["SPARK_TESTING"] = "1"  # the server takes a port that is free: tests run with -n
    if engine == "query":
        from pyflink_on_spark._job.job import install_engine
        from tests.structured.in_process import QueryEngine, Trouble

        cut = mode != "whole"
        install_engine(QueryEngine(Trouble(moves=0.3 * cut, losses=0.1 * cut)))
    if engine == "local":
        import pyflink_on_spark.testing

        pyflink_on_spark.testing.install_local_engine(
            checkpoint_each_turn=mode != "whole", restart_each_checkpoint=mode == "restarted"
        )


def _options(engine: str, mode: str) -> dict[str, str]:
    """Returns settings for environments of all kinds, those that tests make themselves as well."""
    options = {"pyflink-on-spark.engine": engine} if engine == "structured" else {}
    if mode != "whole":
        options |= CUT
    if mode == "restarted":
        options["pyflink-on-spark.checkpoint-elements"] = "1" if engine == "local" else "2"
    return options


def _restart_queries(config: pytest.Config) -> None:
    """Lets jobs start again on Spark."""
    from tests.structured import restarting

    courses = contextlib.ExitStack()
    courses.enter_context(
        restarting.restarted_queries(lambda: Random(os.environ.get("PYTEST_CURRENT_TEST")))
    )
    config.add_cleanup(courses.close)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--some-cases"):
        _choose_some(config, items)
    for item in items:
        if "paced_env" in item.fixturenames:
            item.add_marker("timed")
        if item.get_closest_marker("timed") and config.pluginmanager.has_plugin("rerunfailures"):
            item.add_marker(pytest.mark.flaky(reruns=1))
    mode = config.getoption("--mode")
    moved = config.getoption("--engine") == "query" and mode != "whole"  # as good as restarted
    _leave_out(items, "restarted" if moved else mode)
    engine = config.getoption("--engine")
    _leave_out_timed(items, mode, engine)
    if engine in QUERIES:
        _expect_failures(items, "structured.toml")
    if engine == "connect":
        _expect_failures(items, "connect.toml")
    if engine != "pyflink":
        _expect_failures(items, "not_yet.toml")
        return
    for item in items:
        marker = item.get_closest_marker("pyflink_bug")
        if marker is not None:
            run = marker.kwargs.get("run", True)
            item.add_marker(pytest.mark.xfail(strict=True, run=run, reason=marker.args[0]))


def _choose_some(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keeps the first test of each file of tables, and each eighth after it; all of Python code.

    Of other tests with parameters it keeps one of three cases: the first of one function, the
    second of the next. With restarts it keeps each second test of tables, and all others. The
    choice depends on their file alone, so that all workers have the same.
    """
    restarted = config.getoption("--mode") == "restarted"
    of_tables, of_cases = (2, 1) if restarted else (8, 3)
    cases = Counter(_function(item) for item in items)
    functions: defaultdict[Path, dict[str, int]] = defaultdict(dict)
    numbers: Counter[Path | tuple[Path, str]] = Counter()
    chosen, others = [], []
    for item in items:
        path = item.path
        if path.parent != HERE or "python" in path.name:
            chosen.append(item)
            continue
        if path.name.startswith("test_table_"):
            is_chosen = numbers[path] % of_tables == 0
            numbers[path] += 1
        else:
            function = _function(item)
            place = functions[path].setdefault(function[1], len(functions[path]))
            is_chosen = numbers[function] % of_cases == place % min(cases[function], of_cases)
            numbers[function] += 1
        (chosen if is_chosen else others).append(item)
    if others:
        config.hook.pytest_deselected(items=others)
        items[:] = chosen


def _function(item: pytest.Item) -> tuple[Path, str]:
    return item.path, item.nodeid.partition("::")[2].partition("[")[0]


def _leave_out(items: list[pytest.Item], mode: str) -> None:
    """Skips what cannot be the same in a mode; what cannot be cut cannot be restarted either."""
    for marker in [m for m, needed in NEEDS.items() if mode in {needed, "restarted"}]:
        for item in items:
            found = item.get_closest_marker(marker)
            if found is not None:
                item.add_marker(pytest.mark.skip(reason=found.args[0]))
    for item in items:
        if mode == "restarted" and "paced_env" in item.fixturenames:
            reason = "a restart sets the watermark back, and begins a new interval"
            item.add_marker(pytest.mark.skip(reason=reason))


def _leave_out_timed(items: list[pytest.Item], mode: str, engine: str) -> None:
    slow = mode == "restarted" and engine in QUERIES
    for item in items:
        if slow and item.get_closest_marker("timed"):
            item.add_marker(pytest.mark.skip(reason="a query takes seconds to start again"))


def _expect_failures(items: list[pytest.Item], name: str) -> None:
    """Marks what is not there; a ledger has the reasons."""
    import tomllib  # which the Pythons of earlier releases of PyFlink lack

    with (Path(__file__).parent / name).open("rb") as ledger:
        reasons = tomllib.load(ledger)
    for item in items:
        name = f"{Path(item.path).name}::{item.name}"
        for prefix, reason in reasons.items():
            if name.startswith(prefix):
                item.add_marker(pytest.mark.xfail(strict=True, reason=reason))


def _start_pyflink(config: pytest.Config) -> None:
    """Starts PyFlink's JVM with its standard output in a file, since print() writes there."""
    for warning in ("pytest.PytestUnhandledThreadExceptionWarning", "DeprecationWarning"):
        config.addinivalue_line("filterwarnings", f"ignore::{warning}")
    import pyflink
    from pyflink.java_gateway import get_gateway

    assert pyflink.__file__ is not None
    assert "pyflink_on_spark" not in pyflink.__file__, "this is not the real PyFlink"
    os.environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]
    made, path = tempfile.mkstemp(prefix="pyflink-stdout-")
    os.close(made)
    # The JVM and this process write to it in turn.
    handle = os.open(path, os.O_WRONLY | os.O_APPEND)
    terminal = os.dup(1)
    os.dup2(handle, 1)
    try:
        get_gateway()
    finally:
        os.dup2(terminal, 1)
        os.close(terminal)
        os.close(handle)
    config.stash[_JVM_OUTPUT] = Path(path)


_JVM_OUTPUT = pytest.StashKey[Path]()


def pytest_unconfigure(config: pytest.Config) -> None:
    output = config.stash.get(_JVM_OUTPUT, None)
    if output is not None:
        output.unlink()


@pytest.fixture
def parallelism() -> int:
    """The parallelism of `env`: a test that wants others is parametrised with it."""
    return 1


@pytest.fixture
def env(parallelism: int) -> Any:
    """A fresh execution environment."""
    from pyflink.datastream import StreamExecutionEnvironment

    environment = StreamExecutionEnvironment.get_execution_environment()
    environment.set_parallelism(parallelism)
    return environment


@pytest.fixture
def batch_env(env: Any) -> Any:
    """A fresh execution environment in BATCH mode."""
    from pyflink.datastream import RuntimeExecutionMode

    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    return env


@pytest.fixture
def paced_env(env: Any) -> Any:
    """An environment in which watermarks come between elements: see `compat_tests.pacing`."""
    from compat_tests.pacing import watermark_after_every_element

    watermark_after_every_element(env)
    return env


@pytest.fixture
def t_env(env: Any) -> Any:
    """A fresh table environment over `env`."""
    from pyflink.table import StreamTableEnvironment

    return StreamTableEnvironment.create(env)


@pytest.fixture
def printed(
    request: pytest.FixtureRequest, capfd: pytest.CaptureFixture[str]
) -> Callable[[Callable[[], Any]], list[str]]:
    """A function that makes a call and returns the lines that were printed meanwhile."""
    jvm_output = request.config.stash.get(_JVM_OUTPUT, None)

    def run(call: Callable[[], Any]) -> list[str]:
        capfd.readouterr()
        if jvm_output is None:
            call()
            return capfd.readouterr().out.splitlines()
        before = jvm_output.stat().st_size
        with jvm_output.open("a", buffering=1, encoding="utf-8") as own, redirect_stdout(own):
            call()
        with jvm_output.open("rb") as output:
            output.seek(before)
            return [*output.read().decode().splitlines(), *capfd.readouterr().out.splitlines()]

    return run


@pytest.fixture
def run_printed(printed: Callable[[Callable[[], Any]], list[str]]) -> Callable[[Any], list[str]]:
    """A function that executes an environment and returns the lines its print() sinks wrote."""
    return lambda environment: printed(environment.execute)
