"""The base configuration of each environment."""

from __future__ import annotations

import pytest

from pyflink_on_spark._job.job import set_base_configuration
from pyflink_on_spark.common import Configuration
from pyflink_on_spark.datastream import StreamExecutionEnvironment

YAML = """
parallelism:
  default: 3
execution.checkpointing:
  interval: 10 s
jobmanager.rpc.address: localhost
mine:
  list: [a, 1]
  switch: true
"""


@pytest.fixture
def begin_with(tmp_path, monkeypatch):
    """Take over a file and a command line, until the test ends."""

    def begun(text=None, name="config.yaml", **command_line):
        if text is not None:
            monkeypatch.setenv("FLINK_CONF_DIR", str(tmp_path))
            (tmp_path / name).write_text(text)
        set_base_configuration({k.replace("_", "."): v for k, v in command_line.items()})
        return StreamExecutionEnvironment.get_execution_environment()._configuration.to_dict()

    yield begun
    monkeypatch.delenv("FLINK_CONF_DIR", raising=False)
    set_base_configuration({})


def test_config_yaml(begin_with):
    assert begin_with(YAML) == {
        "parallelism.default": "3",
        "execution.checkpointing.interval": "10 s",
        "mine.list": "[a, 1]",
        "mine.switch": "true",
    }


def test_flink_conf_yaml(begin_with):
    text = "# all\nparallelism.default: 3 # three\nno option\nmine: a: b\n"
    assert begin_with(text, "flink-conf.yaml") == {"parallelism.default": "3", "mine": "a: b"}


def test_the_command_line_wins_and_the_program_over_both(begin_with):
    assert begin_with(YAML, parallelism_default="4")["parallelism.default"] == "4"
    program = Configuration().set_string("parallelism.default", "5")
    env = StreamExecutionEnvironment.get_execution_environment(program)
    assert env.get_parallelism() == 5
    assert env.get_checkpoint_interval() == 10_000


@pytest.mark.parametrize(
    ("text", "name", "told"),
    [
        ("a: [", "config.yaml", "not valid YAML"),
        ("- a", "config.yaml", "not a map"),
        ("a:\n  b:\n", "config.yaml", "the option a.b has no value"),
        ("", "other.yaml", "there is no config.yaml and no flink-conf.yaml"),
    ],
)
def test_files_that_cannot_be_read(begin_with, text, name, told):
    with pytest.raises(ValueError, match=told):
        begin_with(text, name)
