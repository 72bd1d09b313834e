"""``import pyflink`` is this package. Each test is a process of its own."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(program, folder=ROOT):
    """Run a program; return what it printed, or fail with what it said."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1]


def after_install(program):
    return run("import pyflink_on_spark\npyflink_on_spark.install()\n" + textwrap.dedent(program))


def test_the_modules_are_the_same_objects():
    assert after_install(
        """
        import pyflink.datastream.functions
        import pyflink_on_spark.datastream.functions as ours
        from pyflink.datastream import functions
        print(pyflink.datastream.functions is ours, functions is ours)
        print(ours.__name__, ours.__spec__.name, ours.__package__)
        """
    ) == ["True True", " ".join(["pyflink_on_spark.datastream.functions"] * 3)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "order",
    [
        "pyflink.datastream.window pyflink.common pyflink_on_spark.datastream pyflink",
        "pyflink_on_spark.datastream.window pyflink.datastream.window pyflink.common.types",
        "pyflink.common.typeinfo pyflink_on_spark.common.typeinfo pyflink.datastream.connectors",
        "pyflink.datastream.connectors.file_system pyflink.version pyflink.util.java_utils",
    ],
)
def test_imports_in_any_order(order):
    assert after_install(
        f"""
        import importlib, sys
        for name in {order.split()}:
            importlib.import_module(name)
        for name, module in list(sys.modules.items()):
            if name == "pyflink" or name.startswith("pyflink."):
                ours = "pyflink_on_spark" + name.removeprefix("pyflink")
                assert module.__name__ == ours, name
                assert name == "pyflink" or module is sys.modules[ours], name
        from pyflink.common import Row
        from pyflink_on_spark.common.types import Row as Same
        print(Row is Same)
        """
    ) == ["True"]


def test_installing_twice_is_installing_once():
    assert after_install(
        """
        import sys
        pyflink_on_spark.install()
        from pyflink_on_spark._compat.import_hook import is_installed
        print(is_installed(), sum("PyFlinkFinder" in repr(f) for f in sys.meta_path))
        print(*(f for f in sys.meta_path if "PyFlinkFinder" in repr(f)))
        """
    ) == ["True 1", "<PyFlinkFinder: pyflink is pyflink_on_spark>"]


def test_without_installing_nothing_is_changed():
    assert run(
        """
        import importlib.util
        import pyflink_on_spark.datastream
        from pyflink_on_spark._compat.import_hook import is_installed
        print(is_installed(), importlib.util.find_spec("pyflink"))
        """
    ) == ["False None"]


def test_a_real_pyflink_that_is_loaded_already_is_refused(tmp_path):
    (tmp_path / "pyflink").mkdir()
    (tmp_path / "pyflink" / "__init__.py").touch()
    [text] = run(
        """
        import pyflink, pyflink_on_spark
        try:
            pyflink_on_spark.install()
        except ImportError as error:
            print(error)
        """,
        folder=tmp_path,
    )
    assert text.startswith("the real pyflink is imported already, from ")
    assert "call pyflink_on_spark.install() before" in text


def test_a_real_pyflink_that_is_installed_gives_way(tmp_path):
    (tmp_path / "pyflink").mkdir()
    (tmp_path / "pyflink" / "__init__.py").write_text("raise RuntimeError")
    assert run(
        """
        import pyflink_on_spark
        pyflink_on_spark.install()
        import pyflink
        print(pyflink.__name__)
        """,
        folder=tmp_path,
    ) == ["pyflink_on_spark"]


def test_the_version_of_pyflink_is_the_mirrored_one():
    assert after_install(
        """
        import pyflink
        from pyflink import datastream, version
        print(pyflink.__version__, version.__version__, pyflink_on_spark.__pyflink_version__)
        print(pyflink_on_spark.__version__ != pyflink.__version__, pyflink.datastream is datastream)
        """
    ) == ["2.3.0 2.3.0 2.3.0", "True True"]


def test_a_function_that_uses_the_package_is_pickled_by_reference():
    assert after_install(
        """
        import cloudpickle, pyflink
        import pyflink.common
        row = lambda: pyflink.common.Row(1)
        print(repr(cloudpickle.loads(cloudpickle.dumps(row))()))
        print(b"pyflink_on_spark" in cloudpickle.dumps(row))
        """
    ) == ["<Row(1)>", "True"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "text"),
    [
        ("pyflink.nonsense", "No module named 'pyflink.nonsense' in pyflink_on_spark"),
        ("pyflink.datastream.nonsense", "missing in PyFlink too, or not supported on Spark"),
        ("pyflink._runtime", "No module named 'pyflink._runtime'"),
        ("pyflink.state", "No module named 'pyflink.state'"),
        ("pyflink.errors", "No module named 'pyflink.errors'"),
        ("pyflink.testing.local_engine", "No module named 'pyflink.testing.local_engine'"),
        ("pyflink.table.nonsense", "this part of the Table API is not in pyflink_on_spark yet"),
    ],
)
def test_unknown_modules(module, text):
    [said] = after_install(
        f"""
        try:
            import {module}
        except ModuleNotFoundError as error:
            print(error.name, error)
        """
    )
    assert said.startswith(module)
    assert text in said


@pytest.mark.slow
@pytest.mark.parametrize("installed_there", [True, False])
def test_pickles_name_classes_that_any_process_finds(tmp_path, installed_there):
    after_install(
        f"""
        import pickle
        from pyflink.common import Row, Types
        from pyflink.datastream.functions import MapFunction
        with open({str(tmp_path / "pickle")!r}, "wb") as file:
            pickle.dump((Row(1, "a"), Types.INT(), MapFunction), file)
        """
    )
    read = f"""
        import pickle
        with open({str(tmp_path / "pickle")!r}, "rb") as file:
            print(*pickle.load(file))
        """
    expected = (
        "<Row(1, 'a')> Integer <class 'pyflink_on_spark.datastream.functions.{}.MapFunction'>"
    )
    [line] = after_install(read) if installed_there else run(read)
    assert line == expected.format("element_functions")


def test_a_pickle_that_names_pyflink():
    pickled = b"cpyflink.common.types\nRow\n."
    assert after_install(f"import pickle; print(pickle.loads({pickled!r}).__name__)") == ["Row"]


def test_find_spec_of_a_module_that_is_not_there():
    assert after_install(
        """
        import importlib.util
        try:
            importlib.util.find_spec("pyflink.nonsense")
        except ModuleNotFoundError as error:
            print("refused")
        """
    ) == ["refused"]
