"""The settings of a Spark session that this package starts itself, where the user has no wish."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from pyspark import SparkContext


_LOCK = threading.Lock()
_folders: dict[int, Path] = {}


def scratch_folder() -> Path:
    """Return the folder of this process, made when first asked for; only its user can read it.

    Raises:
        OSError: no temporary files can be written.
    """
    with _LOCK:
        process = os.getpid()
        if process not in _folders or not _folders[process].is_dir():
            try:
                _folders[process] = Path(tempfile.mkdtemp(prefix="pyflink-on-spark-")).resolve()
            except OSError as error:
                raise OSError(
                    error.errno,
                    f"temporary files cannot be written ({error.strerror}); set the environment "
                    "variable TMPDIR to a folder that can",
                ) from None
        return _folders[process]


def scratch_subfolder(name: str) -> Path:
    """Return a folder inside the scratch folder, made if need be.

    Args:
        name: its name.
    """
    folder = scratch_folder() / name
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def remove_scratch_folder() -> None:
    """Remove the folder with all that is in it; what is in the way is left."""
    with _LOCK:
        folder = _folders.pop(os.getpid(), None)
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)


GIB = 1024**3
_LEAST_SLOTS = 16
"""How many tasks a session that nobody has configured runs at a time: hosts keep their slots."""
JAVA_OPTIONS = "spark.driver.extraJavaOptions"
LOOPBACK = "127.0.0.1"
QUIET_LOG = Path(__file__).with_name("log_quiet.properties")
PACKAGE_ROOT = Path(__file__).resolve().parents[3]

# A query's own log is in a temporary folder and never read again: Spark's other way of writing it
# starts a program for each file, which took a third of the time of a small job.
SQL_DEFAULTS = {
    "spark.sql.streaming.checkpointFileManagerClass": "org.apache.spark.sql.execution.streaming"
    ".checkpointing.FileSystemBasedCheckpointFileManager",
}
# Spark's Python processes close connections after so long, which is too short on a busy machine.
SPARK_DEFAULTS = {**SQL_DEFAULTS, "spark.python.authenticate.socketTimeout": "120s"}
# Rows of the engine structured are whole bundles of records: few rows, each one large, and each
# exchange laid out by the engine. Its queries have a session of their own, with these settings.
BUNDLE_SETTINGS = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "16",
}


command_line: dict[str, str] = {}
"""The settings of ``python -m pyflink_on_spark --conf``; a script's own settings win."""


def is_local(master: str | None) -> bool:
    """True for a master whose tasks run in the driver's JVM."""
    return (master or "").partition("[")[0] == "local"


def spark_home() -> Path:
    """Return the folder of the Spark that ``pyspark`` will start."""
    if home := os.environ.get("SPARK_HOME"):
        return Path(home)
    spec = find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def configuration_folder() -> Path:
    """Return the folder where a user may keep Spark's configuration files."""
    return Path(os.environ.get("SPARK_CONF_DIR") or spark_home() / "conf")


def settings_from_file() -> dict[str, str]:
    """Return the settings of the user's ``spark-defaults.conf``, if there is one."""
    settings: dict[str, str] = {}
    with contextlib.suppress(OSError):
        text = (configuration_folder() / "spark-defaults.conf").read_text(encoding="utf-8")
        for line in text.splitlines():
            if match := re.match(r"\s*(spark\.[^\s=:]+)(?:\s*[=:]\s*|\s+)(.*?)\s*$", line):
                settings[match[1]] = match[2]
    return settings


def master_of(settings: Mapping[str, str]) -> str:
    """Return the master of a Spark that is started with these settings of the user's."""
    chosen = settings.get("spark.master") or settings_from_file().get("spark.master")
    return chosen or f"local[{max(_LEAST_SLOTS, 2 * cores_of('local[*]'))}]"


def cores_of(master: str) -> int:
    """Return how many tasks a local master runs at a time.

    Args:
        master: for example ``local[4]``.
    """
    cores = re.match(r"local\[(\*|\d+)", master)
    if cores is None:
        return 1
    if cores[1] != "*":
        return int(cores[1])
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def memory_of_machine() -> int:
    """Return the bytes of memory that this machine, or the container around us, has."""
    limits = [8 * GIB]
    with contextlib.suppress(ValueError, OSError, AttributeError):
        limits = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for limit in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        with contextlib.suppress(OSError, ValueError):
            limits.append(int(Path(limit).read_text(encoding="ascii")))
    return min(limits)


def heap_size() -> str:
    """Return a heap for driver and tasks together: a quarter of the memory, within 1 and 4 GiB."""
    return f"{max(1 * GIB, min(4 * GIB, memory_of_machine() // 4)) // 1024**2}m"


def local_defaults(master: str) -> dict[str, str]:
    """Return the settings of a session whose JVM is ours, on this machine only.

    Args:
        master: a local master.
    """
    return SPARK_DEFAULTS | {
        "spark.master": master,
        "spark.app.name": "pyflink_on_spark",
        "spark.driver.host": LOOPBACK,
        "spark.driver.bindAddress": LOOPBACK,
        "spark.driver.memory": heap_size(),
        "spark.local.dir": str(scratch_subfolder("local")),
        "spark.sql.warehouse.dir": str(scratch_subfolder("warehouse")),
        "spark.sql.shuffle.partitions": str(cores_of("local[*]")),
        "spark.default.parallelism": str(cores_of("local[*]")),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.executorEnv.PYTHONPATH": worker_path(),
    }


def cluster_defaults(master: str) -> dict[str, str]:
    """Return the settings of a session whose tasks run elsewhere.

    Args:
        master: a master that is not local.
    """
    return SPARK_DEFAULTS | {
        "spark.master": master,
        "spark.app.name": "pyflink_on_spark",
        "spark.ui.showConsoleProgress": "false",
    }


_SITE = """\
# Spark's archive comes first on the path of its workers. What Python imports from there it compiles
# again in each process, which takes a second: PySpark is also installed, and compiled.
import os
import sys


def home(entry):
    return os.path.realpath(os.path.join(entry, *[os.pardir] * 4))


installed = {os.path.realpath(entry) for entry in sys.path}
for entry in list(sys.path):
    is_packed = os.path.basename(entry).startswith(("pyspark", "py4j")) and entry.endswith(".zip")
    if is_packed and home(entry) in installed:
        sys.path.remove(entry)
        sys.path.append(entry)
own = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != own]
module = sys.modules.pop(__name__)
try:
    import sitecustomize  # the user's
except ImportError:
    sys.modules[__name__] = module
"""


def worker_path() -> str:
    """Return the ``PYTHONPATH`` of workers on this machine.

    They find this package there if it is not installed, and what makes them start fast.
    """
    start = scratch_subfolder("start")
    (start / "sitecustomize.py").write_text(_SITE, encoding="utf-8")
    installed = {Path(sysconfig.get_path(kind)).resolve() for kind in ("purelib", "platlib")}
    own = [str(start), *([] if PACKAGE_ROOT in installed else [str(PACKAGE_ROOT)])]
    inherited = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return os.pathsep.join([*own, *(entry for entry in inherited if entry and entry not in own)])


def java_options(wished: str, *, long_running: bool) -> list[str]:
    """Return the JVM's options for a quiet start with its temporary files in the scratch folder.

    Args:
        wished: the user's own options, which come after these.
        long_running: whether the JVM shall optimise its code fully. That pays after minutes only: a
            short job's work is in Python, and the compiler takes its share of the processors.
    """
    options = [f"-Djava.io.tmpdir={scratch_subfolder('tmp')}"]
    if not long_running:
        options.append("-XX:TieredStopAtLevel=1")
    if "log4j" not in wished and not any(configuration_folder().glob("log4j2.*")):
        options.append(f"-Dlog4j2.configurationFile={QUIET_LOG.as_uri()}")
    return options


def joined(options: list[str], wished: str) -> str:
    """Return JVM options as Spark wants them, the user's last.

    Args:
        options: our options.
        wished: the user's, already as Spark wants them.
    """
    return " ".join([*(shlex.quote(option) for option in options), wished]).strip()


def interpreter_for_workers(settings: Mapping[str, str]) -> str | None:
    """Return the Python that local workers shall run, or None where the user has chosen already.

    Args:
        settings: the user's settings.
    """
    chosen = settings.get("spark.pyspark.python")
    if chosen is not None:
        return chosen
    return None if "PYSPARK_PYTHON" in os.environ else sys.executable or None


_known: WeakKeyDictionary[SparkContext, Mapping[str, str]] = WeakKeyDictionary()


def application_settings(context: SparkContext) -> Mapping[str, str]:
    """Return the settings of an application, which are the same as long as it lives.

    PySpark copies them with hundreds of calls of Java, so each context is asked once.
    """
    found = _known.get(context)
    if found is None:
        found = _known[context] = dict(context.getConf().getAll())
    return found
