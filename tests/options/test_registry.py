"""The registry of options: each key once, as Flink has it, and nowhere else in the package."""

from __future__ import annotations

import ast
import functools
import json
import re
from collections import Counter
from pathlib import Path

import pytest

from pyflink_on_spark._options.option import Option
from pyflink_on_spark._options.registry import (
    MODULES,
    OPTIONS,
    check_own_keys,
    declared,
    family_reason,
    find_option,
)

PACKAGE = Path(__file__).resolve().parents[2] / "pyflink_on_spark"
REGISTRY = PACKAGE / "_options"
# Key, default and former keys of the options of Flink 2.3, without those of its cluster.
FLINK = json.loads(Path(__file__).with_name("flink_options.json").read_text(encoding="utf-8"))
# Flink has these options no more, keeps them with a file system's own library, or they are of its
# cluster.
NOT_IN_FLINK = re.compile(
    r"pyflink-on-spark\..*|env\.log\..*|rest\..*|jobstore\..*|metrics\.reporter.*|s3\..*|fs\.oss\..*"
    r"|state\.backend\.async"
    r"|pipeline\.(auto-type-registration|registered-(kryo|pojo)-types)"
    r"|execution\.checkpointing\.prefer-checkpoint-for-recovery"
)
# Options of connectors that have the name of one of a job's.
NAMESAKES = {("heartbeat.interval", "_sql/tables/connectors/change_capture.py")}
# Here None is not the same as Flink's default, or there is another default.
OWN_DEFAULTS = {
    "parallelism.default": -1,
    "state.backend.type": None,
    "state.backend.rocksdb.memory.fixed-per-slot": 128 * 1024**2,
    "state.backend.rocksdb.block.cache-size": None,
    "python.executable": None,
}
NAMED_KEY = re.compile(
    r"(?<![\w./-])(?:execution\.(?:checkpointing|state-recovery)|state\.(?:backend|changelog)"
    r"|restart-strategy|pyflink-on-spark)(?:\.[a-z0-9-]+)+"
)
EMPTY = (None, "", {}, [], False)


def test_no_key_is_declared_twice():
    keys = Counter(key for option in OPTIONS for key in option.keys)
    assert [key for key, count in keys.items() if count > 1] == []


def test_each_module_of_options_is_in_the_registry():
    files = {path.stem for path in REGISTRY.glob("*.py")}
    options = {module.__name__.rpartition(".")[2] for module in MODULES}
    rest = {"__init__", "option", "registry", "secrets"}
    assert files == options | rest
    assert all(list(declared(module)) for module in MODULES)


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.key)
def test_keys_defaults_and_former_keys_are_flinks(option):
    if NOT_IN_FLINK.fullmatch(option.key):
        assert option.key not in FLINK
        return
    default, *former = FLINK[option.key]
    assert set(option.former) <= set(former)
    assert option.former == tuple(key for key in former if key in option.former)
    # A key that two options of Flink have had before belongs to one of them here.
    for key in set(former) - set(option.former):
        assert find_option(key) is not None
    if option.key in OWN_DEFAULTS:
        assert option.default == OWN_DEFAULTS[option.key]
    elif default is None:
        assert option.default in EMPTY
    else:
        assert option.default == option.parse(default)


@pytest.mark.parametrize("key", FLINK)
def test_every_key_of_flink_is_declared_or_in_a_family(key):
    assert find_option(key) is not None or family_reason(key) is not None


def test_a_default_is_a_value_that_the_option_can_have():
    for option in OPTIONS:
        if option.default is not None and option.default != -1:
            values = {}
            option.write(values, option.default)
            assert option.read(values) == option.default


@functools.cache
def texts():
    """Return each text in the package's code outside the registry, and where it is."""
    return [
        (node.value, f"{path.relative_to(PACKAGE)}:{node.lineno}")
        for path in PACKAGE.rglob("*.py")
        if REGISTRY not in path.parents
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]


@pytest.mark.slow
def test_keys_are_in_the_registry_only():
    keys = {key for option in OPTIONS for key in option.keys}
    found = {(text, where) for text, where in texts() if text in keys}
    assert {
        each for each in found if (each[0], each[1].partition(":")[0]) not in NAMESAKES
    } == set()


@pytest.mark.slow
def test_keys_that_messages_and_docstrings_name_are_declared():
    known = {option.key for option in OPTIONS}
    unknown = {
        where: key
        for text, where in texts()
        for key in NAMED_KEY.findall(text)
        if find_option(key) is None and not any(other.startswith(f"{key}.") for other in known)
    }
    assert unknown == {}


def test_an_unknown_key_of_this_package_is_refused():
    check_own_keys(["pyflink-on-spark.progress", "execution.runtime-mod", "x"])
    with pytest.raises(
        ValueError, match=r"no option 'pyflink-on-spark\.checkpoint-element'"
    ) as caught:
        check_own_keys(["pyflink-on-spark.checkpoint-element"])
    assert "Did you mean 'pyflink-on-spark.checkpoint-elements'?" in str(caught.value)


def test_the_longest_family_counts():
    assert "another database" in family_reason("state.backend.rocksdb.thread.num")
    assert family_reason("state.size-track.history-size") == "nothing here reads it"
    assert family_reason("my.own.key") is None
    assert family_reason("stateful") is None


def test_what_a_key_belongs_to():
    assert find_option("state.backend").key == "state.backend.type"
    assert find_option("pipeline.global-job-parameters.a").key == "pipeline.global-job-parameters"
    assert find_option("fs.azure.account.key.me.dfs.core.windows.net").name == "account"
    assert find_option("pipeline.name.x") is None
    assert isinstance(find_option("s3a.access.key"), Option)
