"""Option builders and restart strategies."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pyflink_on_spark._options.option import parse_yaml, yaml_text
from pyflink_on_spark.common import ConfigOptions, Configuration, RestartStrategies
from pyflink_on_spark.common.configuration import values_of


def test_an_option_has_a_key_a_type_and_a_default():
    option = ConfigOptions.key("k").int_type().default_value(100)
    assert option._option.read(values_of(Configuration())) == 100
    assert option._option.read(values_of(Configuration().set_string("k", "7"))) == 7
    with pytest.raises(ValueError, match="32 bits"):
        option._option.read(values_of(Configuration().set_integer("k", 2**31)))
    assert (
        ConfigOptions.key("k")
        .string_type()
        .no_default_value()
        ._option.read(values_of(Configuration()))
        is None
    )
    with pytest.raises(TypeError):
        ConfigOptions.key(None)


@pytest.mark.parametrize(
    ("method", "value"),
    [("boolean_type", True), ("long_type", 2**40), ("float_type", 1.5), ("double_type", 1.5)],
)
def test_types_of_options(method, value):
    option = getattr(ConfigOptions.key("k"), method)().no_default_value()._option
    assert option.read(values_of(Configuration().set_integer("k", value))) == value


def test_fixed_delay():
    strategy = RestartStrategies.fixed_delay_restart(3, 1000)
    assert strategy.get_restart_attempts() == 3
    assert strategy.get_delay_between_attempts_interval() == timedelta(seconds=1)
    assert strategy == RestartStrategies.fixed_delay_restart(3, timedelta(seconds=1))
    assert strategy != RestartStrategies.fixed_delay_restart(4, 1000)
    assert strategy != RestartStrategies.no_restart()
    assert len({strategy, RestartStrategies.fixed_delay_restart(3, 1000)}) == 1
    assert "3 restart attempts" in strategy.get_description()


def test_failure_rate():
    strategy = RestartStrategies.failure_rate_restart(5, timedelta(minutes=1), 10)
    assert strategy.get_max_failure_rate() == 5
    assert strategy.get_failure_interval() == timedelta(minutes=1)
    assert strategy.get_delay_between_attempts_interval() == timedelta(milliseconds=10)


def test_restarts_that_make_no_sense():
    for refused in (
        lambda: RestartStrategies.fixed_delay_restart(-1, 0),
        lambda: RestartStrategies.fixed_delay_restart(1, -1),
        lambda: RestartStrategies.failure_rate_restart(0, 1, 1),
        lambda: RestartStrategies.failure_rate_restart(1, 0, 1),
        lambda: RestartStrategies.failure_rate_restart(1, 1, -1),
    ):
        with pytest.raises(ValueError, match=r"must be"):
            refused()
    for refused in (
        lambda: RestartStrategies.fixed_delay_restart(1, "1 s"),
        lambda: RestartStrategies.fixed_delay_restart("1", 1),
        lambda: RestartStrategies.failure_rate_restart(1, None, 1),
    ):
        with pytest.raises(TypeError):
            refused()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a b", "{k: a b}"),
        ("1", "{k: '1'}"),
        ("", "{k: ''}"),
        ("None", "{k: None}"),
        ("null", "{k: 'null'}"),
        ("a:b", "{k: 'a:b'}"),
        ("a#b", "{k: a#b}"),
        ("a #b", "{k: 'a #b'}"),
        ("-a", "{k: -a}"),
        ("- a", "{k: '- a'}"),
        ("it's", "{k: it's}"),
        ("'a'", "{k: '''a'''}"),
        ("a\nb", '{k: "a\\nb"}'),
        ("\xfc", "{k: \xfc}"),
        ("0x10", "{k: '0x10'}"),
        ("2020-01-01", "{k: 2020-01-01}"),
        ("a\\b", "{k: a\\b}"),
        ("---", "{k: '---'}"),
    ],
)
def test_texts_in_maps_are_quoted_as_flink_quotes_them(value, text):
    assert yaml_text({"k": value}) == text
    assert parse_yaml(text) == {"k": value}
