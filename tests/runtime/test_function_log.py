"""Log records of user functions, with the operator and the subtask that logged them."""

from __future__ import annotations

import logging

import pytest

from pyflink_on_spark._runtime.diagnosis import (
    DriverLog,
    FunctionLog,
    LogEntry,
    install_function_log,
)
from pyflink_on_spark.datastream import (
    KeyedProcessFunction,
    RuntimeContext,
    StreamExecutionEnvironment,
)

LOG = logging.getLogger("mine")


@pytest.fixture
def log():
    """The log of this process, as if it was a worker."""
    root = logging.getLogger()
    level = root.level
    log = install_function_log({"python.logging.level.overrides": "{quiet: ERROR}"})
    yield log
    root.removeHandler(log)
    root.setLevel(level)
    logging.getLogger("quiet").setLevel(logging.NOTSET)


class Logging(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext):
        LOG.info("open")

    def process_element(self, value, ctx):
        LOG.warning("seen %s", value)
        yield value


def mapped(value):
    logging.getLogger().info("mapped %d", value)
    logging.getLogger("quiet").info("not shown")
    return value


def filtered(value):
    try:
        return value / 0 > 1
    except ZeroDivisionError:
        LOG.exception("no ratio")
        return True


def run(build):
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    return list(build(env.from_collection([5])).execute_and_collect())


def test_a_loop_of_functions_names_each(log, local_engine):
    run(lambda stream: stream.map(mapped).name("first").filter(filtered).name("second"))
    first, second = [entry for entry in log.take() if entry.logger in {"root", "mine"}]
    assert (first.where, first.message, first.level) == ("first (1/1)", "mapped 5", logging.INFO)
    assert second.where == "second (1/1)"
    assert second.message.startswith("no ratio\nTraceback")


def test_a_keyed_function_also_in_open(log, local_engine):
    run(lambda stream: stream.key_by(lambda n: n).process(Logging()).name("keyed"))
    entries = [entry for entry in log.take() if entry.logger == "mine"]
    assert [(entry.where, entry.message) for entry in entries] == [
        ("keyed (1/1)", "open"),
        ("keyed (1/1)", "seen 5"),
    ]


def test_outside_of_any_operator(log):
    LOG.info("alone")
    assert log.take()[0].where == ""
    assert log.take() == []


def test_installing_twice_makes_one_handler(log):
    assert install_function_log({}) is log


def test_of_too_much_the_last_is_kept(log):
    for number in range(10_003):
        LOG.info("%d", number)
    first, second, *_, last = log.take()
    assert first.message.startswith("3 records before this one were lost")
    assert (second.message, last.message) == ("3", "10002")


def test_a_bad_format_fails_nothing(log, capsys):
    log.handle(logging.makeLogRecord({"msg": "%d", "args": ("text",)}))
    assert log.take() == []
    assert "Logging error" in capsys.readouterr().err


def test_the_driver_logs_with_the_worker_s_time_at_its_own_level(caplog):
    caplog.set_level(logging.INFO, "pyflink_on_spark.functions")
    DriverLog({})(
        [
            LogEntry(5.25, logging.WARNING, "mine", "odd", "keyed (2/3)"),
            LogEntry(5.5, logging.INFO, "root", "plain", ""),
            LogEntry(6.0, logging.DEBUG, "mine", "detail", ""),
        ]
    )
    assert caplog.messages == ["[keyed (2/3)] mine: odd", "plain"]
    assert [record.created for record in caplog.records] == [5.25, 5.5]


@pytest.mark.parametrize(
    ("levels", "logged"),
    [
        ({}, ["odd"]),
        ({"python.logging.default.level": "DEBUG"}, ["detail", "plain", "odd"]),
        ({"python.logging.default.level": "INFO"}, ["plain", "odd"]),
        ({"python.logging.level.overrides": "{mine: DEBUG}"}, ["detail", "odd"]),
        ({"python.logging.level.overrides": "{mine.rules: DEBUG}"}, ["odd"]),
    ],
)
def test_the_driver_logs_what_the_job_asks_for(caplog, levels, logged):
    caplog.set_level(logging.WARNING, "pyflink_on_spark.functions")
    caplog.handler.setLevel(logging.NOTSET)
    DriverLog(levels)(
        [
            LogEntry(1.0, logging.DEBUG, "mine.rule", "detail", ""),
            LogEntry(1.0, logging.INFO, "root", "plain", ""),
            LogEntry(1.0, logging.WARNING, "yours", "odd", ""),
        ]
    )
    assert [message.rpartition(" ")[2] for message in caplog.messages] == logged


def test_levels_are_checked():
    with pytest.raises(ValueError, match="'LOUD' is no log level"):
        install_function_log({"python.logging.default.level": "LOUD"})
    assert not any(isinstance(each, FunctionLog) for each in logging.getLogger().handlers)
