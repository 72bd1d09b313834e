"""Small programs as public scripts write them, for each release of PyFlink that has their names.

`scripts.txt` has the programs: a name, the first and the last release, the kind, the code, and what
it prints. Each is run with the imports and settings that scripts of a release have. Real PyFlink
runs those of its own release; `python -m compat_tests.test_scripts` beside it records what they
print. That was done with 2.3.0. With 1.20.3, 1.16.3 and 1.13.6 (`tox -e oracle-1.20` and so on) the
programs print the same; of 1.13 those with functions in Python were not run, which need Java 11.
Programs from `map_state_in_full` on were run with 2.3.0 and 1.20.3.
"""

from __future__ import annotations

import contextlib
import re
import sys
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

COLLECTION = Path(__file__).with_name("scripts.txt")
RELEASES = ("1.13", "1.16", "1.20", "2.3")
DIFFERS = {"streaming_file_sink"}
"""Programs that show a difference from PyFlink which docs/reference/differences.md has."""
FORMER_PRINTS = {
    "databases", "joins_of_tables", "nested_types_and_unnest", "null_and_case", "to_append_stream",
}  # fmt: skip
"""Programs of 1.13 whose tables that release prints in another form, NULL for example."""
ON_SPARK = 40
"""How many programs there are to one that Spark runs: each costs it some seconds."""

COMMON = {
    "1.13": """
from pyflink.common import Configuration, Duration, Row, RowKind
from pyflink.common.serialization import Encoder, SimpleStringSchema
from pyflink.common.typeinfo import Types
from pyflink.common.watermark_strategy import TimestampAssigner, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment, TimeCharacteristic
from pyflink.datastream.functions import *
from pyflink.datastream.state import *
env = StreamExecutionEnvironment.get_execution_environment()
env.set_stream_time_characteristic(TimeCharacteristic.EventTime)
""",
    "1.16": """
from pyflink.common import Types, WatermarkStrategy, Time, Duration, Row, RowKind, Encoder
from pyflink.common import Configuration, SimpleStringSchema
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import StreamExecutionEnvironment, RuntimeExecutionMode
from pyflink.datastream.functions import *
from pyflink.datastream.state import *
env = StreamExecutionEnvironment.get_execution_environment()
env.set_runtime_mode(RuntimeExecutionMode.STREAMING)
""",
    "2.3": """
from pyflink.common import Types, WatermarkStrategy, Time, Duration, Row, RowKind, Encoder
from pyflink.common import Configuration, SimpleStringSchema
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.functions import *
from pyflink.datastream.state import *
config = Configuration()
config.set_string("pipeline.name", "a script")
env = StreamExecutionEnvironment.get_execution_environment(configuration=config)
""",
}
COMMON["1.20"] = COMMON["1.16"]
PARALLELISM = "env.set_parallelism(1)\n"
TABLES = """
from pyflink.table import *
from pyflink.table.expressions import *
from pyflink.table.udf import *
from pyflink.table.window import Over, Session, Slide, Tumble
"""
NEWER = "from pyflink.table import Schema, TableDescriptor\n"
SETTINGS = {
    "1.13": "EnvironmentSettings.new_instance().in_{0}_mode().use_blink_planner().build()",
    "1.16": "EnvironmentSettings.in_{0}_mode()",
    "1.20": "EnvironmentSettings.new_instance().in_{0}_mode().build()",
    "2.3": "EnvironmentSettings.new_instance().with_configuration(Configuration())"
    ".in_{0}_mode().build()",
}
PREPARED = {
    "table": "t_env = TableEnvironment.create(settings)\n",
    "batch": "t_env = TableEnvironment.create(settings)\n",
    "mixed": "t_env = StreamTableEnvironment.create(env)\n",
    "plan": "t_env = StreamTableEnvironment.create(env, environment_settings=settings)\n",
}
OF_TABLES = {
    "1.13": 't_env.get_config().get_configuration().set_string("parallelism.default", "1")\n',
    "2.3": 't_env.get_config().set("parallelism.default", "1")\n',
}
OF_TABLES["1.16"] = OF_TABLES["1.20"] = OF_TABLES["2.3"]


@dataclass(frozen=True)
class Script:
    """A program of one release.

    Args:
        name: describes it.
        first: the first release that has its names.
        last: the last one.
        kind: what is prepared for it.
        body: its code, without what is prepared.
        printed: its output, or None if that has not been recorded.
        release: the release whose habits it has.
    """

    name: str
    first: str
    last: str
    kind: str
    body: str
    printed: str | None
    release: str

    @property
    def text(self) -> str:
        """The whole program."""
        return f"{self._preparation()}{self.body}"

    def _preparation(self) -> str:
        common = COMMON[self.release] + PARALLELISM
        if self.kind == "stream":
            return common
        mode = "batch" if self.kind == "batch" else "streaming"
        made = f"settings = {SETTINGS[self.release].format(mode)}\n{PREPARED[self.kind]}"
        own = NEWER if self.release != "1.13" else ""
        return common + TABLES + own + made + OF_TABLES[self.release]


def scripts() -> list[Script]:
    """Return all programs, one for each release."""
    found = []
    for entry in re.split(r"^=== ", COLLECTION.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        head, _, rest = entry.partition("\n")
        name, versions, kind = head.split()
        body, mark, printed = rest.partition("--- prints\n")
        first, _, last = versions.partition("-")
        program = Script(name, first, last or first, kind, body, printed if mark else None, "")
        numbers = [RELEASES.index(program.first), RELEASES.index(program.last)]
        found += [replace(program, release=r) for r in RELEASES[numbers[0] : numbers[1] + 1]]
    return found


def execute(script: Script, folder: Path) -> None:
    """Run a program as a script is run."""
    code = script.text.replace("$TMP", str(folder))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(code, f"{script.name}.py", "exec"), {"__name__": "__main__"})


def plain(lines: list[str]) -> str:
    """Return an output without what a run does not repeat."""
    text = "".join(f"{line.rstrip()}\n" for line in lines)
    return re.sub(r"Job has been submitted with JobID \w+\n", "", text)


def _is_run_on(config: pytest.Config, number: int, script: Script) -> bool:
    engine = config.getoption("--engine")
    if engine == "pyflink":
        if script.kind == "plan" or script.release != _installed_release():
            return False
        former = FORMER_PRINTS if script.release == "1.13" else set()
        return script.name not in DIFFERS | former
    if config.getoption("--mode") != "whole" or engine in {"structured", "query"}:
        return False
    return engine == "local" or number % ON_SPARK == 0


def _installed_release() -> str:
    """The release of the PyFlink beside which the tests run: ``1.20`` or ``2.3``."""
    from pyflink.version import __version__

    return ".".join(__version__.split(".")[:2])


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    chosen = [
        pytest.param(script, id=f"{script.name}-{script.release}")
        for number, script in enumerate(scripts())
        if _is_run_on(metafunc.config, number, script)
    ]
    nothing = pytest.param(None, marks=pytest.mark.skip("whole on one engine is enough"), id="none")
    metafunc.parametrize("script", chosen or [nothing])


def test_a_script(script: Script, printed: Any, tmp_path: Path) -> None:
    lines = printed(lambda: execute(script, tmp_path))
    if RECORD is not None:
        RECORD[script.name] = plain(lines)
    else:
        assert plain(lines) == script.printed


RECORD: dict[str, str] | None = None


class _Recording:
    """Keeps what programs print, and writes it into the collection."""

    def pytest_collection_finish(self) -> None:
        module = sys.modules["compat_tests.test_scripts"]
        self.printed: dict[str, str] = {}
        module.RECORD = self.printed  # type: ignore[attr-defined]

    def pytest_sessionfinish(self) -> None:
        text = COLLECTION.read_text(encoding="utf-8")
        for name, lines in self.printed.items():
            entry = re.search(rf"^=== {name} .*?(?=^=== |\Z)", text, re.DOTALL | re.MULTILINE)
            assert entry is not None
            body = entry[0].partition("--- prints\n")[0]
            text = text.replace(entry[0], f"{body}--- prints\n{lines}")
        COLLECTION.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        pytest.main([__file__, *sys.argv[1:]], plugins=[_Recording()])
