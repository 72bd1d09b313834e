"""Names in PyFlink's modules besides their exports: ``dir()`` of each, without underscores.

``pyflink_modules.json`` has them, as PyFlink 2.3.0 has them once its modules are imported.
"""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest

from pyflink_on_spark._compat.import_hook import own_name
from pyflink_on_spark._compat.missing_names import _NAMES_OF

MODULES = json.loads(Path(__file__).with_name("pyflink_modules.json").read_text(encoding="utf-8"))

NOT_HERE = {
    "pyflink.find_flink_home": "finds Flink's own files",
    "pyflink.pyflink_callback_server": "part of the connection to the JVM",
    "pyflink.testing.source_sink_utils": "writes to sinks of the JVM",
}
LEFT_OUT = {
    "pyflink.java_gateway": "the connection to the JVM: only what scripts import is here",
    "pyflink.serializers": "the format of its files between Python and the JVM",
    "pyflink.testing.test_case_utils": "tests of the Table API and of Java's classes",
    "pyflink.util.exceptions": "hooks into the connection to the JVM",
    "pyflink.util.java_utils": "options of a table's explanation, as Java objects",
}


@pytest.mark.parametrize("module", sorted(MODULES.keys() - NOT_HERE.keys() - LEFT_OUT.keys()))
def test_every_name_can_be_imported(module):
    ours = importlib.import_module(own_name(module))
    assert [name for name in MODULES[module].split() if not hasattr(ours, name)] == []


@pytest.mark.parametrize("module", NOT_HERE)
def test_modules_of_the_jvm_are_not_here(module):
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module(own_name(module))


def test_nothing_is_added_that_pyflink_does_not_have():
    assert {
        f"{module}.{name}"
        for module, names in _NAMES_OF.items()
        for name in names - {*MODULES[f"pyflink.{module}"].split()}
    } == set()


def test_importing_them_says_what_it_did_before():
    from pyflink_on_spark.datastream import state

    assert state.Types is importlib.import_module("pyflink_on_spark.common").Types
    with pytest.raises(ImportError, match=r"pyflink\.datastream\.state has no 'Typess'"):
        exec("from pyflink_on_spark.datastream.state import Typess")
