"""The options before a script: those of ``flink run``, and of Spark."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from pyflink_on_spark._operate.dispatcher.drivers import AS_MODULE, PYTHON_DRIVER
from pyflink_on_spark._options import checkpointing, flink, python
from pyflink_on_spark._options import own as own_options
from pyflink_on_spark._options.flink import REST_PORT

IN_BACKGROUND = "--in-background"
"""The option with which ``run -d`` starts a driver; its value is the log file."""
_TRUE = "true"


class UsageError(ValueError):
    """A command line that cannot be carried out."""


@dataclass
class RunOptions:
    """The options of a command line.

    Args:
        script: the script's path; None if there is none.
        arguments: the script's own.
        configuration: Flink's options by key.
        spark: Spark's settings by key.
        detached: whether to return once the job runs.
        module: whether ``script`` is the name of a module.
        log: the log file of a detached driver, in that driver.
        quiet: whether to log no more than without the word ``run``.
        jobmanager: the address of a server that may take the script; None without one.
        no_server: why that is passed over if no such server is there.
        notes: a line for each option that has no counterpart on Spark.
    """

    script: str | None = None
    arguments: list[str] = field(default_factory=list)
    configuration: dict[str, str] = field(default_factory=dict)
    spark: dict[str, str] = field(default_factory=dict)
    detached: bool = False
    module: bool = False
    log: str | None = None
    quiet: bool = False
    jobmanager: str | None = None
    no_server: str = ""
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Option:
    """An option.

    Args:
        names: all of them.
        take: takes the value; the text "true" for an option without one.
        value: what the help calls its value; empty if it has none.
        help: what the help says.
        own: whether Flink does not have it. After ``-py SCRIPT`` such a word is the script's.
    """

    names: tuple[str, ...]
    take: Callable[[RunOptions, str], None]
    value: str
    help: str
    own: bool = False


def _sets(key: str) -> Callable[[RunOptions, str], None]:
    def take(options: RunOptions, value: str) -> None:
        options.configuration[key] = value

    return take


def _set_any(options: RunOptions, value: str) -> None:
    key, equals, text = value.partition("=")
    if not key:
        raise UsageError(f"-D takes KEY=VALUE, not {value!r}")
    options.configuration[key] = text if equals else _TRUE


def _set_spark(options: RunOptions, value: str) -> None:
    key, equals, text = value.partition("=")
    if not (equals and key.startswith("spark.")):
        raise UsageError(f"--conf takes spark.SOMETHING=VALUE, not {value}")
    options.spark[key] = text


def _set_master(options: RunOptions, value: str) -> None:
    options.spark["spark.master"] = value


def _set_remote(options: RunOptions, value: str) -> None:
    options.spark["spark.remote"] = value


def _detach(options: RunOptions, _value: str) -> None:
    options.detached = True


def _show_page(options: RunOptions, _value: str) -> None:
    options.configuration.setdefault(REST_PORT.key, "8081")


def _set_log(options: RunOptions, value: str) -> None:
    options.log = value


def _set_script(options: RunOptions, value: str) -> None:
    scheme, mark, path = value.partition("://")
    if mark and not value.endswith(".jar") and scheme not in {"file", "local"}:
        raise UsageError(f"{value} is not on this machine: copy the script here, or to the server "
                         "that -m names")  # fmt: skip
    options.script = path if mark else value


def _set_module(options: RunOptions, value: str) -> None:
    options.script, options.module = value, True


def _set_as_module(options: RunOptions, _value: str) -> None:
    options.module = True


def _nothing(_options: RunOptions, _value: str) -> None:
    """Do what is done without the option: an attached job ends with this process, for example."""


def _set_quiet(options: RunOptions, _value: str) -> None:
    options.quiet = True


def _passed_over(name: str, reason: str) -> Callable[[RunOptions, str], None]:
    def take(options: RunOptions, value: str) -> None:
        options.notes.append(f"{f'{name} {value}'.removesuffix(' ' + _TRUE)}: {reason}")

    return take


def _set_target(name: str) -> Callable[[RunOptions, str], None]:
    def take(options: RunOptions, value: str) -> None:
        if value != "local":
            _passed_over(name, _SPARK_MASTERS.get(value.partition("-")[0], _CLUSTER))(
                options, value
            )

    return take


def _set_jobmanager(options: RunOptions, value: str) -> None:
    options.jobmanager = None if value == "local" else value
    options.no_server = _SPARK_MASTERS.get(value.partition("-")[0], _CLUSTER)


def _set_class(options: RunOptions, value: str) -> None:
    if value == PYTHON_DRIVER:
        return
    if options.script is None:
        raise UsageError(f"-c {value} runs a Java program, and there is no JVM of Flink here: "
                         "give a Python script")  # fmt: skip
    _passed_over("-c", "a Python script has no main class")(options, value)


_PYFLINK_JAR = re.compile(r"(?:.*/)?flink-python[\w.-]*\.jar")
_CLUSTER = "passed over, since the job runs on Spark; --master names a cluster of Spark's"
_SPARK_MASTERS = {
    "yarn": "passed over, since the job runs on Spark; --master yarn runs it on YARN",
    "kubernetes": "passed over, since the job runs on Spark; --master k8s://HOST:PORT runs it",
}
_YARN = _SPARK_MASTERS["yarn"]
_JAR = "passed over, since connectors and functions are Python here, without jars"


def _of_yarn(value: str, *names: str) -> _Option:
    return _Option(names, _passed_over(names[0], _YARN), value, "")


OPTIONS = (
    _Option(("-d", "--detached"), _detach, "", "return once the job runs; its log is a file"),
    _Option(("-s", "--fromSavepoint"), _sets(checkpointing.RESTORE_PATH.key), "PATH",
            "begin with this savepoint or checkpoint"),
    _Option(("-n", "--allowNonRestoredState"), _sets(checkpointing.IGNORE_UNCLAIMED.key), "",
            "leave out state of operators that the script no longer has"),
    _Option(("-p", "--parallelism"), _sets(flink.PARALLELISM.key), "N",
            "the parallelism, where the script sets none"),
    _Option(("-D",), _set_any, "KEY=VALUE", "an option of Flink's or spark.*; any number of them"),
    _Option(("-py", "--python"), _set_script, "FILE", "the script"),
    _Option(("-pym", "--pyModule"), _set_module, "MODULE", "the script as a module"),
    _Option(("-pyfs", "--pyFiles"), _sets(python.FILES.key), "PATHS",
            "files and folders that functions import, with commas between"),
    _Option(("-pyarch", "--pyArchives"), _sets(python.ARCHIVES.key), "PATHS",
            "archives for the workers, with commas between"),
    _Option(("-pyreq", "--pyRequirements"), _sets(python.REQUIREMENTS.key), "FILE",
            "requirements.txt[#CACHE] to install for the workers"),
    _Option(("-pyexec", "--pyExecutable"), _sets(python.EXECUTABLE.key), "PATH",
            "the workers' interpreter"),
    _Option(("-cm", "--claimMode"), _sets(checkpointing.CLAIM_MODE.key), "MODE",
            "NO_CLAIM (the default) or CLAIM"),
    _Option(("-pypath", "--pyPythonPath"), _sets(python.PYTHON_PATH.key), "PATH", ""),
    _Option(("-pyclientexec", "--pyClientExecutable"), _sets(python.CLIENT_EXECUTABLE.key), "PATH",
            ""),
    _Option(("-sae", "--shutdownOnAttachedExit"), _nothing, "", ""),
    _Option(("-rm", "--restoreMode"), _sets(checkpointing.CLAIM_MODE.key), "MODE", ""),
    _Option(("-q", "--sysoutLogging"), _set_quiet, "", "log less"),
    _Option(("-v", "--verbose"), _nothing, "", ""),
    _Option((IN_BACKGROUND,), _set_log, "LOG", "", own=True),
    _Option((AS_MODULE,), _set_as_module, "", "", own=True),
    _Option(("--ui",), _show_page, "", "show the job on http://127.0.0.1:8081, as rest.port does",
            own=True),
    _Option(("--master",), _set_master, "URL",
            "Spark's master: spark://HOST:PORT, yarn, k8s://..., local[2]", own=True),
    _Option(("--remote",), _set_remote, "URL", "a Spark Connect server: sc://HOST:PORT", own=True),
    _Option(("--engine",), _sets(own_options.ENGINE.key), "NAME",
            "what runs streaming jobs: hosts, structured, or auto (the default)", own=True),
    _Option(("--conf",), _set_spark, "KEY=VALUE", "a setting of Spark's; any number of them",
            own=True),
    _Option(("-c", "--class"), _set_class, "CLASS", ""),
    _Option(("-C", "--classpath"), _passed_over("-C", _JAR), "URL", ""),
    _Option(("-j", "--jarfile"), _passed_over("-j", _JAR), "JAR", ""),
    _Option(("-m", "--jobmanager"), _set_jobmanager, "ADDRESS",
            "the server that runs the script: HOST:PORT of `serve`"),
    _Option(("-t", "--target"), _set_target("-t"), "TARGET", ""),
    _Option(("-e", "--executor"), _set_target("-e"), "TARGET", ""),
    _Option(("-z", "--zookeeperNamespace"), _passed_over("-z", _CLUSTER), "NAME", ""),
    _of_yarn("ID", "-yid", "--yarnapplicationId"),
    _of_yarn("MB", "-yjm", "--yarnjobManagerMemory"),
    _of_yarn("MB", "-ytm", "--yarntaskManagerMemory"),
    _of_yarn("NAME", "-ynm", "--yarnname"),
    _of_yarn("LABEL", "-ynl", "--yarnnodeLabel"),
    _of_yarn("QUEUE", "-yqu", "--yarnqueue"),
    _of_yarn("SLOTS", "-ys", "--yarnslots"),
    _of_yarn("N", "-yn", "--yarncontainer"),
    _of_yarn("PATH", "-yt", "--yarnship"),
    _of_yarn("TYPE", "-yat", "--yarnapplicationType"),
    _of_yarn("NAME", "-yz", "--yarnzookeeperNamespace"),
    _of_yarn("", "-yd", "--yarndetached"),
    _of_yarn("", "-yst", "--yarnstreaming"),
    _of_yarn("", "-yh", "--yarnhelp"),
    _of_yarn("", "-yq", "--yarnquery"),
    _Option(("-yD",), _set_any, "KEY=VALUE", ""),
)  # fmt: skip
_BY_NAME = {name: option for option in OPTIONS for name in option.names}
_GLUED = re.compile(r"(-D|-yD)(.+)|(-p)(\d+)")
"""Options whose value may follow without a blank."""


def parse(arguments: list[str]) -> RunOptions:
    """The options before a script; what follows them is the script's.

    Flink's options may also follow ``-py SCRIPT``, up to the first word that Flink does not know.

    Raises:
        UsageError: an option is unknown, or has no value.
    """
    options, rest = RunOptions(), list(arguments)
    _take_options(options, rest)
    if options.script is None and rest and _PYFLINK_JAR.fullmatch(rest[0]):
        rest.pop(0)  # the script is an argument of its main class
        _take_options(options, rest)
    if options.script is None and rest:
        _set_script(options, rest.pop(0))
    options.arguments = rest
    return options


def _take_options(options: RunOptions, rest: list[str]) -> None:
    """Apply the options that ``rest`` begins with, and remove them from ``rest``."""
    while rest and rest[0].startswith("-") and len(rest[0]) > 1:
        found = _option(rest[0], any_own=options.script is None)
        if found is None:
            if options.script is not None:
                break
            raise UsageError(f"there is no option {rest[0]}")
        _take(options, found, rest)


def without_cluster(arguments: list[str]) -> tuple[list[str], RunOptions]:
    """Split the arguments of ``list``, ``stop`` and the like from Flink's options of a cluster.

    Returns:
        the arguments without these options, and the options.
    """
    kept, options, rest = [], RunOptions(), list(arguments)
    while rest:
        found = _option(rest[0], any_own=False) if rest[0].startswith("-") else None
        if found is not None and _CLUSTERS.intersection(found[0].names):
            _take(options, found, rest)
        else:
            kept.append(rest.pop(0))
    options.no_server = _NO_SERVER
    return kept, options


_NO_SERVER = "passed over, since no `serve` runs there; these are the jobs of this machine"
_CLUSTERS = {"-m", "-t", "-e", "-z", "-D", "-v", "-yid", "-yz"}


def _take(options: RunOptions, found: tuple[_Option, str | None], rest: list[str]) -> None:
    """Apply the option that ``rest`` begins with, and remove the option from ``rest``."""
    option, value = found
    name = rest.pop(0)
    if not option.value:
        value = _TRUE
    elif value is None:
        if not rest:
            raise UsageError(f"{name} needs a value: {name} {option.value}")
        value = rest.pop(0)
    option.take(options, value)


def help_lines() -> list[str]:
    """A line of help for each option that has an effect."""
    return [
        f"  {', '.join(option.names)} {option.value}".ljust(36) + f" {option.help}"
        for option in OPTIONS
        if option.help
    ]


def _option(text: str, *, any_own: bool) -> tuple[_Option, str | None] | None:
    """The option that an argument begins, with the value if the argument has the value, too."""
    name, equals, value = text.partition("=")
    for spelled, given in ((text, None), (name, value)) if equals else ((text, None),):
        option = _named(spelled)
        if option is not None and (any_own or not option.own):
            return option, given
    glued = _GLUED.fullmatch(text)
    if glued is None:
        return None
    short, follows = (part for part in glued.groups() if part is not None)
    return _BY_NAME[short], follows


def _named(text: str) -> _Option | None:
    """The option with this name; a long name may have a single dash, or be cut, as in Flink."""
    found = _BY_NAME.get(text)
    long = "--" + text.lstrip("-")
    if found is not None or long in _BY_NAME:
        return found or _BY_NAME[long]
    meant = {
        option.names[0]: option
        for name, option in _BY_NAME.items()
        if not option.own and name.startswith(long) and len(long) > _SHORTEST
    }
    if len(meant) > 1:
        raise UsageError(f"{text} can mean {', '.join(sorted(meant))}")
    return next(iter(meant.values()), None)


_SHORTEST = len("--py")


def check_script(options: RunOptions) -> str:
    """Return the script's path or the module's name.

    Raises:
        UsageError: there is none.
    """
    script = options.script
    if script is None:
        raise UsageError("which script? run [OPTION ...] SCRIPT [ARGUMENT ...]")
    if options.module:
        return script
    if script.endswith(".jar"):
        raise UsageError(f"{script} runs in Flink's JVM only: give a Python script")
    if not os.path.isfile(script):
        raise UsageError(f"there is no script {script}")
    return script
