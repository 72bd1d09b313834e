"""One Flink cluster for many jobs: PyFlink's own, one for each, costs more than a small job."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.random_programs.boot_server import BootServer

_SLOTS = 48
_SETTINGS = {
    "taskmanager.memory.managed.size": "2g",
    "taskmanager.memory.network.min": "256m",
    "taskmanager.memory.network.max": "256m",
    "rest.bind-port": "0",
}
_JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx3g"
_MINI_CLUSTER = "org.apache.flink.runtime.minicluster"
_EXECUTION = "org.apache.flink.core.execution"


class FlinkCluster:
    """A cluster in PyFlink's own JVM, on which jobs run as on the one that PyFlink would start."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="random-programs-")
        folder = Path(self._folder.name)
        self._output = folder / "stdout"
        self._jvm = _start_jvm(self._output)
        self._boot = BootServer(folder)
        self._cluster = self._start()
        self._loader = _Loader(_Factory(_Executor(self._jvm, self._cluster)))

    def environment(self) -> Any:
        """Return a fresh execution environment."""
        from pyflink.datastream import StreamExecutionEnvironment

        settings = self._jvm.org.apache.flink.configuration.Configuration()
        settings.setString("execution.target", "local")
        settings.setString("execution.attached", "true")
        settings.setString("python.executable", self._boot.executable)
        java = self._jvm.org.apache.flink.streaming.api.environment.StreamExecutionEnvironment
        return StreamExecutionEnvironment(java(self._loader, settings, None))

    def printed(self, execute: Callable[[], None]) -> list[str]:
        """Run what prints, and return what was printed meanwhile, by other jobs too."""
        before = self._output.stat().st_size
        execute()
        with self._output.open("rb") as output:
            output.seek(before)
            return output.read().decode().splitlines()

    def cancel(self, name: str) -> None:
        """Cancel the job of a name, if it runs."""
        for job in self._cluster.listJobs().get():
            if job.getJobName() == name and not job.getJobState().isTerminalState():
                self._cluster.cancelJob(job.getJobId())

    def _start(self) -> Any:
        from pyflink.util.java_utils import load_java_class, to_jarray

        settings = self._jvm.org.apache.flink.configuration.Configuration()
        for key, value in _SETTINGS.items():
            settings.setString(key, value)
        builder = load_java_class(f"{_MINI_CLUSTER}.MiniClusterConfiguration$Builder")
        none = (to_jarray(self._jvm.Class, []), to_jarray(self._jvm.Object, []))
        described = builder.getConstructor(none[0]).newInstance(none[1])
        described.setConfiguration(settings).setNumSlotsPerTaskManager(_SLOTS).withRandomPorts()
        cluster = self._jvm.org.apache.flink.runtime.minicluster.MiniCluster(described.build())
        cluster.start()
        return cluster


def within(seconds: float, call: Callable[[], Any]) -> tuple[bool, Any]:
    """Return whether a call returned in time, and what."""
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(call()), daemon=True)
    thread.start()
    thread.join(seconds)
    return bool(found), found[0] if found else None


class _Executor:
    """Implements Flink's interface for what submits a job."""

    def __init__(self, jvm: Any, cluster: Any) -> None:
        self._jvm, self._cluster = jvm, cluster

    def execute(self, pipeline: Any, settings: Any, loader: Any) -> Any:
        from pyflink.util.java_utils import load_java_class

        executors = self._jvm.org.apache.flink.client.deployment.executors
        graph = executors.PipelineExecutorUtils.getStreamGraph(pipeline, settings)
        job = self._cluster.submitJob(graph).get().getJobID()
        ends = load_java_class(f"{_MINI_CLUSTER}.MiniClusterJobClient$JobFinalizationBehavior")
        nothing = next(e for e in ends.getEnumConstants() if e.toString() == "NOTHING")
        client = self._jvm.org.apache.flink.runtime.minicluster.MiniClusterJobClient
        made = client(job, self._cluster, loader, nothing)
        return self._jvm.java.util.concurrent.CompletableFuture.completedFuture(made)

    class Java:
        implements = (f"{_EXECUTION}.PipelineExecutor",)


class _Factory:
    def __init__(self, executor: _Executor) -> None:
        self._executor = executor

    def getName(self) -> str:  # noqa: N802 - the names are Java's
        return "shared"

    def isCompatibleWith(self, settings: Any) -> bool:  # noqa: N802
        return True

    def getExecutor(self, settings: Any) -> _Executor:  # noqa: N802
        return self._executor

    class Java:
        implements = (f"{_EXECUTION}.PipelineExecutorFactory",)


class _Loader:
    def __init__(self, factory: _Factory) -> None:
        self._factory = factory

    def getExecutorFactory(self, settings: Any) -> _Factory:  # noqa: N802
        return self._factory

    def getExecutorNames(self) -> None:  # noqa: N802
        return None

    class Java:
        implements = (f"{_EXECUTION}.PipelineExecutorServiceLoader",)


def _start_jvm(output: Path) -> Any:
    """Start PyFlink's JVM with its standard output in a file, since print() writes there."""
    os.environ["JAVA_TOOL_OPTIONS"] = _JAVA_OPTIONS
    os.environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]
    from pyflink.java_gateway import get_gateway

    terminal = os.dup(1)
    with output.open("wb") as file:
        os.dup2(file.fileno(), 1)
    try:
        return get_gateway().jvm
    finally:
        os.dup2(terminal, 1)
        os.close(terminal)
