"""The Spark session that jobs run in: the user's, a local one started here, or Spark Connect's.

The JVM inherits the standard error stream of this process. While it is being launched, that stream
is a pipe to a companion, which passes everything on but the lines that Spark's own launch flags
provoke. The companion outlives both processes, says so if this one was killed, which is then the
last line after all that Java has said, and removes the scratch folder.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._compat.errors import EnvironmentSetupError
from pyflink_on_spark._options.secrets import masked
from pyflink_on_spark._spark.session import spark_defaults
from pyflink_on_spark._spark.session.java_home import JavaRuntime, find_java, gist
from pyflink_on_spark._spark.session.jvm_archive import JvmArchive, find_archive
from pyflink_on_spark._spark.session.spark_defaults import (
    JAVA_OPTIONS,
    LOOPBACK,
    SQL_DEFAULTS,
    application_settings,
    joined,
    remove_scratch_folder,
    scratch_folder,
)

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession


MASTERS = re.compile(r"local(?:-cluster)?(?:\[.*\])?|yarn|k8s://.+|spark://.+")
_ADDRESS = re.compile(r"(?:spark://)?(?P<host>.+):(?P<port>\d+)")
_SECONDS = 5.0
_LIBRARIES = ("py4j", "pyspark")
_FETCHED = ("spark.jars", "spark.files", "spark.archives", "spark.submit.pyFiles")
_OF_THE_LAUNCH = ("spark.driver.", "spark.jars", "spark.submit.", "spark.master")
_RAISED_TOO = "while sending command."
LOG = logging.getLogger("pyflink_on_spark")
OLDEST_SPARK = (4, 2)
INTERPRETER = "spark.pyspark.python"
_LOCK = threading.RLock()
_started: dict[str, Mapping[str, str]] = {}  # by application id: the settings asked for
_told_late: set[str] = set()
_jvm_is_ours = False
_prepared = False
STOPPED = "its SparkContext was stopped"
DIED = "Spark's Java process has ended"
_SILENCED_LINES = (
    "WARNING: Using incubator modules: jdk.incubator.vector",
    "WARNING: package sun.security.action not in java.base",
)
_SCRIPT = """
sed -u -e '/Streaming TransformWithStateInPandas Python worker/{N;d;}' |
grep --line-buffered -v -x -F -e "$1"
cat
told=$(cat "/dev/fd/$2")
[ -n "$told" ] || printf '%s\n' "$4"
rm -rf -- "$3"
"""
_GOODBYE = b"."
_KILLED = (
    "the driver (process {}) has ended without a word: it was killed, or has crashed. "
    "`exceptions JOB` says from where its job continues"
)
_STANDARD_ERROR = 2
# The companions, and what tells them that this process lives.
_companions: list[tuple[subprocess.Popen[bytes], int]] = []


def check_master(master: str) -> None:
    """Make sure that there can be a Spark with this master.

    Spark would try for a minute to reach a standalone master.

    Args:
        master: for example ``local[4]`` or ``spark://host:7077``.

    Raises:
        EnvironmentSetupError: it is no master's URL, or nothing listens where it says.
    """
    if not MASTERS.fullmatch(master):
        raise EnvironmentSetupError(
            f"there is no Spark master {master!r}: it is local[4], spark://HOST:PORT, yarn or "
            "k8s://URL"
        )
    if not master.startswith("spark://"):
        return
    reasons = [unreachable(address) for address in master.split(",")]
    if all(reasons):
        raise EnvironmentSetupError(f"no Spark master answers at {master}: {'; '.join(reasons)}")


def unreachable(address: str) -> str:
    """Return why nothing can be reached at an address; an empty text if something listens."""
    found = _ADDRESS.fullmatch(address)
    if found is None:
        return f"{address} is not HOST:PORT"
    host = found["host"].strip("[]")
    try:
        socket.create_connection((host, int(found["port"])), _SECONDS).close()
    except (OSError, OverflowError) as error:
        return str(error)
    return ""


def quiet_libraries() -> None:
    """Let Spark's Python libraries log warnings only, unless the script has set their levels.

    At INFO they log each call from the JVM, in every script that logs at INFO itself. Errors of a
    call to the JVM are raised; py4j logs them with their traceback too, which says nothing more.
    """
    for library in _LIBRARIES:
        logger = logging.getLogger(library)
        if logger.level == logging.NOTSET:
            logger.setLevel(logging.WARNING)
    from py4j import java_gateway

    # The functions of ``logging`` that py4j calls would configure the root logger for the script.
    java_gateway.logging = java_gateway.logger
    java_gateway.logger.addFilter(_is_news)


def _is_news(record: logging.LogRecord) -> bool:
    return not str(record.msg).endswith(_RAISED_TOO)


def quiet_accumulators(context: SparkContext) -> None:
    """Let PySpark's server of accumulators print no traceback when Spark's JVM ends first.

    A signal to all processes of a job may end the JVM before the driver, also while it connects.
    """
    # PySpark has no public way to this server.
    server: Any = getattr(context, "_accumulatorServer", None)
    if server is None:
        return
    print_error = server.handle_error

    def handle_error(request: socket.socket, address: object) -> None:
        if not isinstance(sys.exception(), (EOFError, ConnectionError)) and not _is_over(request):
            print_error(request, address)

    server.handle_error = handle_error


def _is_over(connection: socket.socket) -> bool:
    """True once the other end has closed the connection."""
    try:
        return not connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    except OSError:
        return True


def obtain_session(settings: Mapping[str, str], *, long_running: bool = False) -> SparkSession:
    """Return a session to run jobs in, with these settings as far as they can still be set.

    If a Spark session is alive, jobs get a session of their own beside it, and settings of the
    whole Spark application come too late: their names are logged once. Otherwise Spark is started;
    without a master in the settings, on this machine, reachable from this machine only.

    Args:
        settings: the user's ``spark.*`` settings; they win over this package's own.
        long_running: whether the JVM, if one is started, shall rather run fast for hours than start
            fast.

    Raises:
        EnvironmentSetupError: if PySpark, or a Java that is new enough, is missing, or Spark does
            not start.
    """
    with _LOCK:
        _require_pyspark()
        quiet_libraries()
        alive = _living_session()
        if alive is not None and _left_behind(alive, settings):
            alive = None
        return _start(settings, long_running) if alive is None else _beside(alive, settings)


def settings_ahead(settings: Mapping[str, str]) -> Mapping[str, str]:
    """Return the settings of the Spark that a job will run in, which need not have been started.

    Args:
        settings: the user's ``spark.*`` settings.

    Raises:
        EnvironmentSetupError: as ``obtain_session``.
    """
    with _LOCK:
        alive = _living_session()
        if alive is None and "PYSPARK_GATEWAY_PORT" in os.environ:
            alive = obtain_session(settings)  # only the JVM of spark-submit has its settings
        if alive is not None:
            return application_settings(alive.sparkContext)
    known = {**spark_defaults.settings_from_file(), **settings}
    return {**known, "spark.master": spark_defaults.master_of(settings)}


def prepare_session() -> SparkSession:
    """Start Spark before it is known what for; return a session of it.

    A program whose settings Spark does not have yet gets a Spark with these settings instead.

    Raises:
        EnvironmentSetupError: as ``obtain_session``.
    """
    global _prepared  # noqa: PLW0603 - a process has one Spark
    session = obtain_session(spark_defaults.command_line, long_running=True)
    _prepared = True
    return session


def _left_behind(alive: SparkSession, settings: Mapping[str, str]) -> bool:
    """Stop a prepared Spark that has not what the first program wishes; True if that was done."""
    global _prepared
    fresh, _prepared = _prepared, False
    if not fresh:
        return False
    started_with = _started.get(alive.sparkContext.applicationId, {})
    wished = {key: value for key, value in settings.items() if started_with.get(key) != value}
    if all(alive.conf.isModifiable(key) for key in wished):
        return False
    alive.stop()
    return True


def _require_pyspark() -> None:
    try:
        import pyspark
    except ImportError as error:
        raise EnvironmentSetupError(
            f"jobs run on PySpark, which cannot be imported ({error}): pip install 'pyspark>=4.2'"
        ) from error
    found = tuple(int(part) for part in pyspark.__version__.split(".")[:2])
    if found < OLDEST_SPARK:
        raise EnvironmentSetupError(
            f"jobs need PySpark 4.2 or newer, and {pyspark.__version__} is installed: "
            "pip install 'pyspark>=4.2'"
        )
    if os.environ.get("SPARK_REMOTE"):
        raise EnvironmentSetupError(
            "this needs a Spark of its own process, not Spark Connect: unset SPARK_REMOTE"
        )


def _living_session() -> SparkSession | None:
    from pyspark.errors import PySparkRuntimeError
    from pyspark.sql import SparkSession

    try:
        session = SparkSession.active()
        context = session.sparkContext
    except PySparkRuntimeError:
        return None
    try:
        context.applicationId  # noqa: B018 - asks the JVM
    except (AttributeError, AssertionError):
        return None  # stopped
    except Exception as error:
        raise EnvironmentSetupError(
            "the Java process of this script's Spark session has died, and Spark can only be "
            "started again from a new Python process"
        ) from error
    return session


def _beside(alive: SparkSession, settings: Mapping[str, str]) -> SparkSession:
    """Return a session of a running Spark, with what can be set set."""
    settings = _without_interpreter(alive, settings)
    started_with = _started.get(alive.sparkContext.applicationId)
    if started_with is not None:
        settings = {k: v for k, v in settings.items() if started_with.get(k) != v}
        if not settings:
            return alive
    session = alive.newSession()
    _apply(session, {**SQL_DEFAULTS, **settings}, wished=settings)
    return session


def _without_interpreter(alive: SparkSession, settings: Mapping[str, str]) -> Mapping[str, str]:
    """Say it if the workers' interpreter was to be another one; a running Spark keeps its own."""
    wished = settings.get(INTERPRETER)
    if wished is None:
        return settings
    own = alive.sparkContext.pythonExec
    if os.path.realpath(shutil.which(own) or own) != os.path.realpath(wished):
        _tell_once(
            f"{INTERPRETER} (set_python_executable) is {wished}, but Spark runs already, and its "
            f"workers stay with {own}: choose the interpreter before the first job"
        )
    return {key: value for key, value in settings.items() if key != INTERPRETER}


def _tell_once(text: str) -> None:
    if text not in _told_late:
        _told_late.add(text)
        LOG.warning("%s", text)


def _apply(session: SparkSession, values: Mapping[str, str], wished: Mapping[str, str]) -> None:
    late: list[str] = []
    for key, value in values.items():
        if session.conf.isModifiable(key):
            session.conf.set(key, value)
        elif key in wished and session.conf.get(key, None) != value:
            late.append(key)
    untold = sorted(set(late) - _told_late)
    if untold:
        _told_late.update(untold)
        LOG.warning(
            "Spark was already running, so these settings have no effect: %s", ", ".join(untold)
        )


def _start(settings: Mapping[str, str], long_running: bool) -> SparkSession:
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        return _start_under_submit(settings)
    from_file = spark_defaults.settings_from_file()
    master = spark_defaults.master_of(settings)
    check_master(master)
    java = find_java()
    archive = find_archive(java)
    wished = settings.get(JAVA_OPTIONS, from_file.get(JAVA_OPTIONS, ""))
    options = spark_defaults.java_options(wished, long_running=long_running)
    everything = _all_settings(master, settings, from_file)
    with _environment(java, settings, is_local=spark_defaults.is_local(master)):
        mapped = archive.start_options() if archive and "Archive" not in wished else []
        with_archive = {**everything, JAVA_OPTIONS: joined([*options, *mapped], wished)}
        without = {**everything, JAVA_OPTIONS: joined(options, wished)}
        session = _launch_once_or_twice(with_archive, without, archive)
    quiet_accumulators(session.sparkContext)
    _started[session.sparkContext.applicationId] = dict(settings)
    if archive is not None:
        archive.record_at_exit()
    return session


def _start_under_submit(settings: Mapping[str, str]) -> SparkSession:
    """Join the JVM that ``spark-submit`` has set up; master and resources are its business."""
    session = _build(settings)
    set_by_submit = application_settings(session.sparkContext)
    defaults = {key: value for key, value in SQL_DEFAULTS.items() if key not in set_by_submit}
    _apply(session, defaults, wished={})
    _started[session.sparkContext.applicationId] = dict(settings)
    return session


def _all_settings(
    master: str, settings: Mapping[str, str], from_file: Mapping[str, str]
) -> dict[str, str]:
    """Return the settings of Spark: our defaults, the user's file over them, the given settings."""
    is_local = spark_defaults.is_local(master)
    ours = (spark_defaults.local_defaults if is_local else spark_defaults.cluster_defaults)(master)
    return {**{key: value for key, value in ours.items() if key not in from_file}, **settings}


def _launch(settings: Mapping[str, str]) -> SparkSession:
    """Start Spark, in a new JVM if this process has none of ours yet."""
    global _jvm_is_ours  # noqa: PLW0603 - a process has one JVM
    if _jvm_is_ours:
        return _build(settings)
    watch = can_watch()
    threading.Thread(target=_load_libraries, name="load-libraries", daemon=True).start()
    with watched_launch(scratch_folder()) if watch else contextlib.nullcontext():
        session = _build(settings)
    _jvm_is_ours = True
    if not watch:
        atexit.register(_end, os.getpid())
    return session


def _launch_once_or_twice(
    settings: Mapping[str, str], without_archive: Mapping[str, str], archive: JvmArchive | None
) -> SparkSession:
    """Start Spark; without the archive if Java dies, for it may have died of that."""
    try:
        return _launch(settings)
    except _JavaDied as died:
        reason = str(died)
    if archive is not None and archive.file() is not None:
        with contextlib.suppress(_JavaDied):
            session = _launch(without_archive)
            archive.discard()
            return session
    raise EnvironmentSetupError(reason)


class _JavaDied(Exception):
    """Spark's Java process has ended before it was ready."""


def _load_libraries() -> None:
    """Import what PySpark will import for the first job, while the JVM starts."""
    with contextlib.suppress(ImportError):
        import pandas  # noqa: F401 - PySpark asks for it where it serves Arrow too
        import pyarrow  # noqa: F401


def _launch_without_secrets(settings: Mapping[str, str]) -> None:
    """Start the JVM; Spark gets secrets later, by PySpark's connection.

    The settings of a launch are arguments, which a list of processes shows to everybody.
    """
    from pyspark import SparkConf, SparkContext

    # The launcher itself fetches these, perhaps with the secrets.
    fetched = any("://" in settings.get(key, "").replace("file://", "") for key in _FETCHED)
    later = set() if fetched else secret_settings(settings)
    if later:
        shown = SparkConf().setAll([(k, v) for k, v in settings.items() if k not in later])
        # PySpark has no public way to launch a JVM without a context.
        SparkContext._ensure_initialized(conf=shown)


def secret_settings(settings: Mapping[str, str]) -> set[str]:
    """Return the keys of settings that have secrets, and that a JVM need not have at its start."""
    return {
        key
        for key, value in settings.items()
        if masked(key, value) != value and not key.startswith(_OF_THE_LAUNCH)
    }


def _build(settings: Mapping[str, str]) -> SparkSession:
    from pyspark.errors import PySparkRuntimeError
    from pyspark.sql import SparkSession

    try:
        with _own_interrupt_handler():
            if not _jvm_is_ours and "PYSPARK_GATEWAY_PORT" not in os.environ:
                _launch_without_secrets(settings)
            return SparkSession.builder.config(map=dict(settings)).getOrCreate()
    except PySparkRuntimeError as error:
        raise _JavaDied(
            f"Spark's Java process did not start; what it said is above ({error})"
        ) from None
    except socket.gaierror as error:
        raise EnvironmentSetupError(
            f"Spark did not start, since a name cannot be resolved ({error.strerror}): look "
            "whether /etc/hosts has localhost and the name of this machine"
        ) from None
    except Exception as error:  # noqa: BLE001 - Java's, and whatever PySpark makes of it
        raise EnvironmentSetupError(f"Spark did not start: {gist(str(error))}") from None


@contextlib.contextmanager
def _own_interrupt_handler() -> Iterator[None]:
    """Keep the handler of Ctrl-C: that of Spark cancels its jobs before any clean end."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread() and before is not None:
            signal.signal(signal.SIGINT, before)


def _end(process: int) -> None:
    """Stop Spark and tidy up, where no companion does it after the JVM has ended."""
    if os.getpid() != process:
        return
    with contextlib.suppress(Exception):
        session = _living_session()
        if session is not None:
            session.stop()
    remove_scratch_folder()


@contextlib.contextmanager
def _environment(
    java: JavaRuntime, settings: Mapping[str, str], *, is_local: bool
) -> Iterator[None]:
    """Set the environment variables of a launch; the workers' interpreter stays set for later."""
    interpreter = settings.get(INTERPRETER)
    if is_local:
        interpreter = spark_defaults.interpreter_for_workers(settings)
    if interpreter is not None:
        os.environ["PYSPARK_PYTHON"] = interpreter  # PySpark does not read Spark's setting
    temporary = {"JAVA_HOME": str(java.home)}
    if is_local and "SPARK_LOCAL_IP" not in os.environ:
        temporary["SPARK_LOCAL_IP"] = LOOPBACK
    before = {name: os.environ.get(name) for name in temporary}
    os.environ.update(temporary)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def why_gone(session: SparkSession) -> str | None:
    """Return why nothing can run in a session any more; None if something can.

    PySpark tells it nowhere in public: its calls raise the same errors whatever has happened.
    """
    # PySpark has no public way to its Java context.
    java_context = session.sparkContext._jsc
    if java_context is None:
        return STOPPED
    try:
        return STOPPED if java_context.sc().isStopped() else None
    except Exception:  # noqa: BLE001 - py4j raises errors of many kinds
        return STOPPED if session.sparkContext._jsc is None else DIED


def can_watch() -> bool:
    """Return whether this machine has what the companion is made of."""
    tools = all(shutil.which(tool) for tool in ("sh", "sed", "grep", "cat", "rm"))
    return tools and os.path.isdir("/dev/fd") and _is_open(_STANDARD_ERROR)


@contextlib.contextmanager
def watched_launch(scratch: Path) -> Iterator[None]:
    """Launch a JVM inside, and it has a companion.

    Args:
        scratch: the folder to remove when the JVM and this process have ended.
    """
    console = os.dup(_STANDARD_ERROR)
    try:
        _redirect_to_companion(console, scratch)
        yield
    finally:
        os.dup2(console, _STANDARD_ERROR)
        os.close(console)


def _redirect_to_companion(console: int, scratch: Path) -> None:
    from_jvm, to_companion = os.pipe()
    alive, lifeline = os.pipe()
    try:
        silenced, process = "\n".join(_SILENCED_LINES), os.getpid()
        killed = _KILLED.format(process)
        companion = subprocess.Popen(
            ["sh", "-c", _SCRIPT, "sh", silenced, str(alive), str(scratch), killed],
            stdin=from_jvm,
            stdout=console,
            stderr=subprocess.DEVNULL,
            pass_fds=(alive,),
            cwd="/",
            start_new_session=True,
        )
        _companions.append((companion, lifeline))
        atexit.register(say_goodbye, process)
        os.dup2(to_companion, _STANDARD_ERROR)
    finally:
        for end in (from_jvm, to_companion, alive):
            os.close(end)


def say_goodbye(process: int) -> None:
    """Let companions know that a process ends by itself; otherwise they say that it was killed.

    Args:
        process: the one that has launched the JVM. Its copies say nothing.
    """
    if os.getpid() == process:
        for _, lifeline in _companions:
            with contextlib.suppress(OSError):
                os.write(lifeline, _GOODBYE)


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True
