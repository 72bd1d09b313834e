"""The options before a script: those of ``flink run``, and of Spark."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from pyflink_on_spark.common._options import checkpointing, execution, own, python
from pyflink_on_spark.common._options.operation import REST_PORT

IN_BACKGROUND = "--in-background"
"""The option with which ``run -d`` starts a driver; its value is the log file."""
_TRUE = "true"


class UsageError(ValueError):
    """A command line that cannot be carried out."""


@dataclass
class RunOptions:
    """What a command line says.

    Args:
        script: the script's path; None if there is none.
        arguments: the script's own.
        configuration: Flink's options by key.
        spark: Spark's settings by key.
        detached: whether to return once the job runs.
        module: whether ``script`` is the name of a module.
        log: the log file of a detached driver, in that driver.
    """

    script: str | None = None
    arguments: list[str] = field(default_factory=list)
    configuration: dict[str, str] = field(default_factory=dict)
    spark: dict[str, str] = field(default_factory=dict)
    detached: bool = False
    module: bool = False
    log: str | None = None


@dataclass(frozen=True)
class _Option:
    """An option.

    Args:
        names: all of them.
        take: takes the value; the text "true" for an option without one.
        value: what the help calls its value; empty if it has none.
        help: what the help says.
    """

    names: tuple[str, ...]
    take: Callable[[RunOptions, str], None]
    value: str
    help: str


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
    options.script = value


def _set_module(options: RunOptions, value: str) -> None:
    options.script, options.module = value, True


def _nothing(_options: RunOptions, _value: str) -> None:
    """Do what is done without the option: a job that is not detached ends with this process."""


def _refused(reason: str) -> Callable[[RunOptions, str], None]:
    def take(_options: RunOptions, _value: str) -> None:
        raise UsageError(reason)

    return take


_JAVA = "runs a Java program, and there is no JVM of Flink here: give a Python script"
_CLUSTER = "names a cluster of Flink; name Spark's with --master URL"
OPTIONS = (
    _Option(("-d", "--detached"), _detach, "", "return once the job runs; its log is a file"),
    _Option(("-s", "--fromSavepoint"), _sets(checkpointing.RESTORE_PATH.key), "PATH",
            "begin with this savepoint or checkpoint"),
    _Option(("-n", "--allowNonRestoredState"), _sets(checkpointing.IGNORE_UNCLAIMED.key), "",
            "leave out state of operators that the script no longer has"),
    _Option(("-p", "--parallelism"), _sets(execution.PARALLELISM.key), "N",
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
    _Option((IN_BACKGROUND,), _set_log, "LOG", ""),
    _Option(("--ui",), _show_page, "", "show the job on http://127.0.0.1:8081, as rest.port does"),
    _Option(("--master",), _set_master, "URL",
            "Spark's master: spark://HOST:PORT, yarn, k8s://..., local[2]"),
    _Option(("--remote",), _set_remote, "URL", "a Spark Connect server: sc://HOST:PORT"),
    _Option(("--engine",), _sets(own.ENGINE.key), "NAME",
            "what runs streaming jobs: hosts, structured, or auto (the default)"),
    _Option(("--conf",), _set_spark, "KEY=VALUE", "a setting of Spark's; any number of them"),
    _Option(("-c", "--class"), _refused(f"-c {_JAVA}"), "", ""),
    _Option(("-C", "--classpath"), _refused(f"-C {_JAVA}"), "", ""),
    _Option(("-m", "--jobmanager"), _refused(f"-m {_CLUSTER}"), "", ""),
    _Option(("-t", "--target"), _refused(f"-t {_CLUSTER}"), "", ""),
    _Option(("-e", "--executor"), _refused(f"-e {_CLUSTER}"), "", ""),
)  # fmt: skip
_BY_NAME = {name: option for option in OPTIONS for name in option.names}
_GLUED = re.compile(r"(-D)(.+)|(-p)(\d+)")
"""Options whose value may follow without a blank."""


def parse(arguments: list[str]) -> RunOptions:
    """Return what a command line says, up to the script; what follows is the script's.

    Raises:
        UsageError: an option is unknown, or has no value.
    """
    options, rest = RunOptions(), list(arguments)
    while rest and rest[0].startswith("-") and len(rest[0]) > 1:
        found = _option(rest[0])
        if found is None:
            if options.script is not None:
                break
            raise UsageError(f"there is no option {rest[0]}")
        option, value = found
        name = rest.pop(0)
        if not option.value:
            value = _TRUE
        elif value is None:
            if not rest:
                raise UsageError(f"{name} needs a value: {name} {option.value}")
            value = rest.pop(0)
        option.take(options, value)
    if options.script is None and rest:
        options.script = rest.pop(0)
    options.arguments = rest
    return options


def help_lines() -> list[str]:
    """Return a line for each option."""
    return [
        f"  {', '.join(option.names)} {option.value}".ljust(36) + f" {option.help}"
        for option in OPTIONS
        if option.help
    ]


def _option(text: str) -> tuple[_Option, str | None] | None:
    """Return the option that an argument begins, with the value if it has that, too."""
    if text in _BY_NAME:
        return _BY_NAME[text], None
    name, equals, value = text.partition("=")
    if equals and name.startswith("--") and name in _BY_NAME:
        return _BY_NAME[name], value
    glued = _GLUED.fullmatch(text)
    if glued is None:
        return None
    short, follows = (part for part in glued.groups() if part is not None)
    return _BY_NAME[short], follows
