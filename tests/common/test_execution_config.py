"""ExecutionConfig is a view of the configuration."""

from __future__ import annotations

import logging
from datetime import timedelta

import pytest

from pyflink_on_spark._compat import recorded as _recorded
from pyflink_on_spark._compat.errors import UnsupportedFlinkFeature
from pyflink_on_spark.common import (
    Configuration,
    ExecutionConfig,
    ExecutionMode,
    InputDependencyConstraint,
    RestartStrategies,
)


@pytest.fixture
def configuration():
    return Configuration()


@pytest.fixture
def config(configuration):
    return ExecutionConfig(configuration)


def test_defaults(config):
    assert config.get_parallelism() == -1
    assert config.get_max_parallelism() == -1
    assert config.get_auto_watermark_interval() == 200
    assert config.get_latency_tracking_interval() == 0
    assert config.get_task_cancellation_interval() == 30_000
    assert config.get_task_cancellation_timeout() == 180_000
    assert config.is_closure_cleaner_enabled()
    assert config.has_auto_generated_uids_enabled()
    assert not config.is_object_reuse_enabled()
    assert not config.is_use_snapshot_compression()
    assert not config.is_force_kryo_enabled()
    assert not config.is_force_avro_enabled()
    assert not config.has_generic_types_disabled()
    assert not config.is_auto_type_registration_disabled()
    assert config.get_global_job_parameters() == {}
    assert config.get_execution_mode() is ExecutionMode.PIPELINED
    assert config.get_default_input_dependency_constraint() is InputDependencyConstraint.ANY
    assert isinstance(
        config.get_restart_strategy(), RestartStrategies.FallbackRestartStrategyConfiguration
    )


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (500, "500 ms"),
        (1000, "1 s"),
        (90000, "90 s"),
        (60000, "1 min"),
        (3600000, "1 h"),
        (86400000, "1 d"),
        (0, "0 ms"),
    ],
)
def test_intervals_are_written_in_the_largest_whole_unit(config, configuration, ms, text):
    assert config.set_auto_watermark_interval(ms) is config
    assert configuration.to_dict() == {"pipeline.auto-watermark-interval": text}
    assert config.get_auto_watermark_interval() == ms


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("250", 250),
        ("5 min", 300000),
        ("2d", 172800000),
        ("9000000 ns", 9),
        ("PT1.5S", 1500),
        ("1 m", 60000),
        ("2 secs", 2000),
        ("7000 micros", 7),
        ("3 MIN", 180000),
        ("P1DT2H", 93600000),
    ],
)
def test_intervals_that_are_read(config, configuration, text, ms):
    configuration.set_string("pipeline.auto-watermark-interval", text)
    assert config.get_auto_watermark_interval() == ms


@pytest.mark.parametrize(
    "text", ["", "x", "-5 s", "+5 s", "1.5 s", "8 us", "2 mins", "PT", "P", "P1W"]
)
def test_intervals_that_cannot_be_read(config, configuration, text):
    configuration.set_string("pipeline.auto-watermark-interval", text)
    with pytest.raises(ValueError, match="Could not parse value"):
        config.get_auto_watermark_interval()


def test_negative_numbers(config):
    assert config.set_task_cancellation_interval(-7).get_task_cancellation_interval() == -7
    assert config.set_latency_tracking_interval(-1).get_latency_tracking_interval() == -1
    for refused in (
        lambda: config.set_auto_watermark_interval(-1),
        lambda: config.set_task_cancellation_timeout(-1),
        lambda: config.set_parallelism(0),
        lambda: config.set_parallelism(-3),
        lambda: config.set_max_parallelism(0),
    ):
        with pytest.raises(ValueError, match=r"must|needs"):
            refused()


def test_parallelism(config, configuration):
    assert config.set_parallelism(3) is config
    assert configuration.to_dict() == {"parallelism.default": "3"}
    assert config.set_parallelism(ExecutionConfig.PARALLELISM_UNKNOWN).get_parallelism() == 3
    assert config.set_parallelism(ExecutionConfig.PARALLELISM_DEFAULT).get_parallelism() == -1
    assert config.set_max_parallelism(32_769).get_max_parallelism() == 32_769
    for wrong in ("2", 2.0, True, None):
        with pytest.raises(TypeError):
            config.set_parallelism(wrong)
    with pytest.raises(OverflowError):
        config.set_parallelism(2**31)


def test_switches(config, configuration):
    config.enable_object_reuse().disable_auto_generated_uids().disable_closure_cleaner()
    config.set_use_snapshot_compression(True)
    assert config.is_object_reuse_enabled()
    assert not config.has_auto_generated_uids_enabled()
    assert not config.is_closure_cleaner_enabled()
    assert configuration.to_dict() == {
        "pipeline.object-reuse": "true",
        "pipeline.auto-generate-uids": "false",
        "pipeline.closure-cleaner-level": "NONE",
        "execution.checkpointing.snapshot-compression": "true",
    }
    assert not config.disable_object_reuse().is_object_reuse_enabled()
    assert config.enable_auto_generated_uids().has_auto_generated_uids_enabled()
    assert config.enable_closure_cleaner().is_closure_cleaner_enabled()
    with pytest.raises(TypeError):
        config.set_use_snapshot_compression(1)


def test_job_parameters(config, configuration):
    given = {"a": "1", "b": 2, "c": None, "d": True, "f": [1, "x"], "g": "a: b, c", "h": "it's"}
    config.set_global_job_parameters(given)
    assert config.get_global_job_parameters() == {key: str(value) for key, value in given.items()}
    assert configuration.to_dict() == {
        "pipeline.global-job-parameters": "{a: '1', b: '2', c: None, d: 'True', "
        "f: '[1, ''x'']', g: 'a: b, c', h: it's}"
    }
    again = Configuration.from_dict(configuration.to_dict())
    assert ExecutionConfig(again).get_global_job_parameters() == config.get_global_job_parameters()
    assert config.set_global_job_parameters({"z": "1"}).get_global_job_parameters() == {"z": "1"}
    assert config.set_global_job_parameters({}).get_global_job_parameters() == {}
    for wrong in ({1: "x"}, configuration):
        with pytest.raises(TypeError):
            config.set_global_job_parameters(wrong)


@pytest.mark.parametrize(
    ("text", "parameters"),
    [
        ("k:v,l:w", {"k": "v", "l": "w"}),
        (" k : v ", {"k": "v"}),
        ("k:v,", {"k": "v"}),
        ("{a: b, c: 5}", {"a": "b", "c": "5"}),
        ("{a: {b: c}}", {"a": "{b: c}"}),
        ("a: 1\nb: 2", {"a": "1", "b": "2"}),
        ("{a: 'it''s', b: \"x\\ny\"}", {"a": "it's", "b": "x\ny"}),
        ('k:"a:b"', {"k": "a:b"}),
        ("{}", {}),
        ("", {}),
    ],
)
def test_job_parameters_that_are_read(config, configuration, text, parameters):
    configuration.set_string("pipeline.global-job-parameters", text)
    assert config.get_global_job_parameters() == parameters


@pytest.mark.parametrize("text", ["k", "k:", "k:a:b", "k:'a"])
def test_job_parameters_that_cannot_be_read(config, configuration, text):
    configuration.set_string("pipeline.global-job-parameters", text)
    with pytest.raises(ValueError, match="Could not parse"):
        config.get_global_job_parameters()


def test_job_parameters_spread_over_keys(config, configuration):
    configuration.set_string("pipeline.global-job-parameters.x", "y")
    assert config.get_global_job_parameters() == {"x": "y"}
    config.set_global_job_parameters({"a": "b"})
    assert config.get_global_job_parameters() == {"a": "b"}
    assert configuration.key_set() == {"pipeline.global-job-parameters"}


def test_java_types_are_recorded(config):
    config.enable_force_kryo().enable_force_avro().disable_generic_types()
    config.disable_auto_type_registration()
    config.register_kryo_type("a.B").register_kryo_type("a.B").register_pojo_type("a.C")
    config.add_default_kryo_serializer("a.B", "a.S").add_default_kryo_serializer("a.C", "a.T")
    config.register_type_with_kryo_serializer("a.D", "a.S")
    assert config.is_force_kryo_enabled()
    assert config.is_force_avro_enabled()
    assert config.has_generic_types_disabled()
    assert config.is_auto_type_registration_disabled()
    assert config.get_registered_kryo_types() == ["a.B"]
    assert config.get_registered_pojo_types() == ["a.C"]
    assert config.get_default_kryo_serializer_classes() == {"a.B": "a.S", "a.C": "a.T"}
    assert config.get_registered_types_with_kryo_serializer_classes() == {"a.D": "a.S"}
    assert not config.disable_force_kryo().is_force_kryo_enabled()
    assert not config.disable_force_avro().is_force_avro_enabled()
    assert not config.enable_generic_types().has_generic_types_disabled()


def test_what_has_no_effect_is_said_once(config, caplog, monkeypatch):
    monkeypatch.setattr(_recorded, "_SAID", set())
    with caplog.at_level(logging.WARNING):
        config.enable_force_kryo().enable_force_kryo()
    assert [record.getMessage() for record in caplog.records] == [
        (
            "The option pipeline.force-kryo is recorded, and has no effect on Spark: "
            "records are Python objects, which need no Java serializer"
        )
    ]


def test_settings_of_flink_1(config):
    config.set_execution_mode(ExecutionMode.BATCH_FORCED)
    assert config.get_execution_mode() is ExecutionMode.BATCH_FORCED
    config.set_default_input_dependency_constraint(InputDependencyConstraint.ALL)
    assert config.get_default_input_dependency_constraint() is InputDependencyConstraint.ALL
    with pytest.raises(TypeError):
        config.set_execution_mode("BATCH")


def test_the_restart_strategy_is_in_the_configuration(config, configuration):
    strategy = RestartStrategies.fixed_delay_restart(3, timedelta(seconds=2))
    assert config.set_restart_strategy(strategy) is config
    assert config.get_restart_strategy() == strategy
    assert configuration.to_dict() == {
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": "3",
        "restart-strategy.fixed-delay.delay": "2 s",
    }
    rate = RestartStrategies.failure_rate_restart(5, 60_000, 10)
    assert config.set_restart_strategy(rate).get_restart_strategy() == rate
    assert "restart-strategy.fixed-delay.attempts" not in configuration.to_dict()
    none = RestartStrategies.no_restart()
    assert config.set_restart_strategy(none).get_restart_strategy() == none
    assert configuration.to_dict() == {"restart-strategy.type": "none"}
    config.set_restart_strategy(RestartStrategies.fall_back_restart())
    assert configuration.to_dict() == {}


def test_a_restart_strategy_without_a_class(config, configuration):
    configuration.set_string("restart-strategy.type", "exponential-delay")
    with pytest.raises(ValueError, match="exponential-delay"):
        config.get_restart_strategy()


def test_equality_is_that_of_the_configuration(config, configuration):
    assert config == ExecutionConfig(configuration)
    assert hash(config) == hash(ExecutionConfig(configuration))
    assert config != ExecutionConfig(Configuration().set_string("a", "b"))
    assert config != configuration


@pytest.mark.parametrize(
    "option",
    [
        ("parallelism.default", "0"),
        ("parallelism.default", "x"),
        ("pipeline.object-reuse", "yes"),
        ("pipeline.auto-watermark-interval", "8 us"),
        ("metrics.latency.interval", ""),
    ],
)
def test_options_can_be_checked_before_they_are_used(option):
    ExecutionConfig._check(Configuration())
    with pytest.raises(ValueError, match=r"Could not parse value|Parallelism must be"):
        ExecutionConfig._check(Configuration.from_dict(dict([option])))


def test_something_else_in_the_place_of_the_configuration():
    with pytest.raises(TypeError, match="takes a Configuration"):
        ExecutionConfig({"a": "b"})
    foreign = type("JavaObject", (), {"__module__": "py4j.java_gateway"})()
    with pytest.raises(UnsupportedFlinkFeature, match="ExecutionConfig"):
        ExecutionConfig(foreign)
