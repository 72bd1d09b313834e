"""The functions for a server's own Python processes can be unpickled without this package."""

from __future__ import annotations

import pickle
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

from pyspark import SparkFiles, cloudpickle

from pyflink_on_spark._runtime.user_code import DependencyFolder, FolderKind
from pyflink_on_spark._spark.jobs.worker_environment import WorkerEnvironment
from pyflink_on_spark._spark.session.dependencies import ShippedDependencies
from pyflink_on_spark._spark.session.spark_defaults import PACKAGE_ROOT
from pyflink_on_spark._spark.structured.processor import SlotProcessor
from pyflink_on_spark._spark.structured.server_start import starting_function, starting_processor
from pyflink_on_spark._spark.structured.slot import wish
from pyflink_on_spark._spark.structured.state_log import HEAD, LOG

# Spark pickles functions with its own cloudpickle.
LOADER = """
import importlib.abc, pickle, sys
package, file = sys.argv[1:]

class Elsewhere(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "pyflink_on_spark" and package not in sys.path:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Elsewhere())
sys.path[:] = [each for each in sys.path if each != package]
with open(file, "rb") as content:
    loaded = pickle.load(content)
assert not [name for name in sys.modules if name.startswith("pyflink_on_spark")]
"""


def load(tmp_path, thing, then, package=PACKAGE_ROOT):
    """Unpickles something in a process that has not this package, and runs code with it."""
    file = tmp_path / "pickled"
    file.write_bytes(cloudpickle.dumps(thing))
    command = [sys.executable, "-c", LOADER + then, str(package), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_function_of_a_micro_batch(tmp_path):
    then = """
loaded("ends", 3)
print("pyflink_on_spark._spark.structured.slot" in sys.modules)
"""
    function = starting_function(str(PACKAGE_ROOT), pickle.dumps(wish))
    assert load(tmp_path, function, then) == "True\n"


def test_the_processor_of_a_level(tmp_path):
    then = """
class Handle:
    def getValueState(self, name, schema):
        print(name)

    getMapState = lambda self, name, *_: print(name)

loaded.init(Handle())
print(list(loaded.handleInputRows((5,), iter([1, 2]), None)))
print("pyflink_on_spark._spark.structured.slot" in sys.modules)
loaded.close()
"""
    started = starting_processor(str(PACKAGE_ROOT), processor())
    assert load(tmp_path, started, then) == f"{HEAD}\n{LOG}\n[1, 2]\nFalse\n"


def test_the_processor_on_another_machine(tmp_path):
    then = f"""
from pyspark import SparkFiles
SparkFiles._root_directory, SparkFiles._is_running_on_worker = {str(tmp_path)!r}, True
class Handle:
    getValueState = getMapState = lambda self, name, *_: print(name)

loaded.init(Handle())
"""
    here = tmp_path / "1f-2a" / "package.zip"
    here.parent.mkdir()
    here.symlink_to(PACKAGE_ROOT)
    started = starting_processor("/nowhere/3b-4c/package.zip", processor())
    assert load(tmp_path, started, then, here) == f"{HEAD}\n{LOG}\n"


def test_folders_of_a_session_are_found(tmp_path, monkeypatch):
    monkeypatch.setattr(SparkFiles, "_root_directory", str(tmp_path))
    monkeypatch.setattr(SparkFiles, "_is_running_on_worker", True)
    dependencies = ShippedDependencies(
        (DependencyFolder(FolderKind.MODULES, "/client/modules-1f"),)
    )
    assert dependencies.here()[0].path == str(tmp_path / "modules-1f")
    of_session = tmp_path / "3b-4c" / "modules-1f"
    of_session.mkdir(parents=True)
    assert dependencies.here()[0].path == str(of_session)
    (tmp_path / "modules-1f").mkdir()
    assert dependencies.here()[0].path == str(tmp_path / "modules-1f")


def processor():
    """A pickled processor."""
    plan: Any = SimpleNamespace(
        number=0,
        attempt=1,
        ticks=(),
        level=SimpleNamespace(targets=[0]),
        limits=SimpleNamespace(notes_runs=True),
        settings=SimpleNamespace(configuration={}),
    )
    environment = WorkerEnvironment.of_driver(ShippedDependencies(()))
    return pickle.dumps(SlotProcessor(plan, "file:///home", environment))
