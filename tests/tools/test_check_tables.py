"""Verdicts of the static report on tables in texts of SQL, and on the modules of a script."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

from pyflink_on_spark.tools.check.command import main
from pyflink_on_spark.tools.check.modules import missing_modules
from pyflink_on_spark.tools.check.script import examine
from pyflink_on_spark.tools.check.verdict import Status

SETUP = """
import textwrap
from pyflink.table import *
from pyflink.table.udf import *
t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
kind = "hbase-2.2"
"""
ABSENT = "'connector' = 'hbase-2.2'"


def uses(script):
    found = examine("script.py", SETUP + textwrap.dedent(script)).uses
    return {use.name: use for use in found}


def obstacles(script):
    return {name for name, use in uses(script).items() if not use.verdict.status.runs}


@pytest.mark.parametrize(
    "text",
    [
        "\"CREATE TABLE t (a INT) WITH ('connector' = 'hbase-2.2')\"",
        "f\"CREATE TABLE {name()} (a INT) WITH ('connector'='{kind}')\"",
        "\"CREATE TABLE t (a INT) WITH ('connector' = '\" + kind + \"')\"",
        "\"CREATE TABLE t (a INT) WITH ('connector' = '%s', 'x' = '%d')\" % (kind, 3)",
        "\"CREATE TABLE t (a INT) WITH ('connector' = '%(kind)s')\" % {'kind': kind}",
        "\"CREATE TABLE t (a INT) WITH ('connector' = '{}')\".format(kind)",
        "\"CREATE TABLE t (a INT) WITH ('connector' = '{k}')\".format(k=kind)",
        "' '.join([\"CREATE TABLE t (a INT)\", f\"WITH ('connector' = '{kind}')\"])",
        "textwrap.dedent(f\"CREATE TABLE t (a INT) WITH ('connector' = '{kind.strip()}')\")",
        "\"CREATE TABLE t (a INT) WITH ('connector' = 'X')\".replace('X', kind)",
    ],
)
def test_a_connector_in_a_text(text):
    assert obstacles(f"t_env.execute_sql({text})") == {ABSENT}


def test_a_text_that_grows_and_one_that_a_function_is_given():
    script = """
    def table(name, connector):
        return f"CREATE TABLE {name} (a INT) WITH ('connector' = '{connector}')"

    ddl = "CREATE TABLE t (a INT) "
    ddl += f"WITH ('connector' = '{kind}')"
    t_env.execute_sql(ddl)
    t_env.execute_sql(table("u", "redis"))
    """
    assert obstacles(script) == {ABSENT, "'connector' = 'redis'"}


@pytest.mark.parametrize(
    "script",
    [
        """ddl = "CREATE TABLE t (a INT) WITH (" + ",".join(
            f"'{k}'='{v}'" for k, v in options.items()) + ")\"""",
        """
        parts = ["'%s' = '%s'" % (key, value) for key, value in options.items() if value]
        ddl = f"CREATE TABLE t (a INT) WITH ({', '.join(parts)})"
        """,
        """
        lines = ["'format' = 'json'"]
        for key in options:
            lines.append(f"'{key}' = '{options[key]}'")
        ddl = "CREATE TABLE t (a INT) WITH (" + ", ".join(lines) + ")"
        """,
        """
        ddl = "CREATE TABLE t (a INT) WITH ('format' = 'json'"
        for key, value in sorted(options.items()):
            ddl += f", '{key}' = '{value}'"
        ddl += ")"
        """,
        """ddl = "CREATE TABLE t (a INT) WITH ('connector' = '{connector}')".format(**options)""",
        """ddl = "CREATE TABLE t (a INT) WITH ('connector' = '%(connector)s')" % options""",
        """ddl = f"CREATE TABLE t (a INT) WITH ('connector' = '{options.get('connector')}')\"""",
        """ddl = f"CREATE TABLE t (a INT) WITH ('connector' = '{({**options})['connector']}')\"""",
    ],
)
@pytest.mark.parametrize(
    "made",
    [
        "options = {'topic': 'x', 'connector': kind}",
        "options = dict(connector=kind, topic='x')",
        "options = {}; options['connector'] = kind; options.update({'topic': 'x'})",
        "options = {'connector': 'kafka', 'topic': 'x'} | {'connector': kind}",
    ],
)
def test_the_options_of_a_dict(script, made):
    script = f"{made}\n{textwrap.dedent(script)}\nt_env.execute_sql(ddl)"
    assert obstacles(script) == {ABSENT}


@pytest.mark.parametrize(
    "change",
    [
        "options['connector'] = 'kafka'",
        "options.update(connector='kafka')",
        "options[input()] = 'kafka'",
        "options.pop('connector')",
        "del options['connector']",
        "options = load(options)",
        "options |= {'connector': 'kafka'}",
    ],
)
def test_a_dict_that_has_changed(change):
    script = f"""
    options = {{"topic": "x", "connector": kind}}
    {change}
    pairs = ",".join(f"'{{k}}'='{{v}}'" for k, v in options.items())
    t_env.execute_sql(f"CREATE TABLE t (a INT) WITH ({{pairs}})")
    """
    assert obstacles(script) == set()


def test_loops_over_statements_and_names():
    script = """
    for statement in ["SELEC 1", "SELECT 1"]:
        t_env.execute_sql(statement)
    for name, connector in [("a", "print"), ("b", "hbase-2.2")]:
        if name == "c":
            continue
        t_env.execute_sql(f"CREATE TABLE {name} (x INT) WITH ('connector' = '{connector}')")
    for environment in [t_env]:
        environment.no_such_method()
    """
    assert obstacles(script) == {ABSENT, "SELEC 1", "TableEnvironment.no_such_method"}


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("if c == 'kafka':\n    t_env.execute_sql(ddl.format(c))", set()),
        ("if c != 'kafka':\n    t_env.execute_sql(ddl.format(c))", {ABSENT}),
        ("if c in ('hbase-2.2', 'redis'):\n    continue\nt_env.execute_sql(ddl.format(c))", set()),
        ("if c not in ['kafka']:\n    t_env.execute_sql(ddl.format(c))", {ABSENT}),
        ("if c == input():\n    t_env.execute_sql(ddl.format(c))", {ABSENT}),
        ("if c == 'kafka':\n    pass\nelse:\n    t_env.execute_sql(ddl.format(c))", {ABSENT}),
    ],
)
def test_rounds_of_a_loop_that_skip_something(body, found):
    script = (
        "ddl = \"CREATE TABLE t (a INT) WITH ('connector' = '{}')\"\n"
        "for c in ['kafka', 'hbase-2.2']:\n" + textwrap.indent(body, "    ")
    )
    reached = {name for name in obstacles(script) if uses(script)[name].called}
    assert reached == found


@pytest.mark.parametrize(
    "script",
    [
        """
        def create(name, connector):
            t_env.execute_sql(f"CREATE TABLE {name} (a INT) WITH ('connector' = '{connector}')")
        create("a", "print")
        create("b", kind)
        """,
        """
        def ddl(name, options):
            pairs = ", ".join(map(lambda pair: f"'{pair[0]}' = '{pair[1]}'", options.items()))
            return f"CREATE TABLE {name} (a INT) WITH ({pairs})"
        t_env.execute_sql(ddl("a", {"connector": "print"}))
        t_env.execute_sql(ddl("b", {"connector": kind}))
        """,
        """
        ddl = "CREATE TABLE t (a INT) WITH ('connector' = '@@')"
        for mark, text in {"@@": kind}.items():
            ddl = ddl.replace(mark, text)
        """,
    ],
)
def test_a_function_that_is_called_with_several_connectors(script):
    assert obstacles(script) == {ABSENT}


def test_each_absent_connector_has_a_way_out():
    for connector in ("hbase-2.2", "mongodb", "doris", "mqtt", "redis", "nobody-knows-it"):
        ddl = f"t_env.execute_sql(\"CREATE TABLE t (a INT) WITH ('connector'='{connector}')\")"
        assert uses(ddl)[f"'connector' = '{connector}'"].verdict.advice


def test_a_descriptor_a_format_a_catalog_and_former_options():
    script = """
    t_env.create_temporary_table("a", TableDescriptor.for_connector("mongodb")
        .schema(Schema.new_builder().column("a", DataTypes.INT()).build())
        .format("msgpack").build())
    t_env.execute_sql("CREATE TABLE b (a INT) WITH ('connector'='kafka', 'format'='msgpack')")
    t_env.execute_sql("CREATE CATALOG c WITH ('type' = 'paimon')")
    t_env.execute_sql("CREATE CATALOG d WITH ('type' = 'generic_in_memory')")
    t_env.execute_sql("CREATE TABLE e (a INT) WITH ('connector.type' = 'elasticsearch')")
    t_env.execute_sql("CREATE TABLE f (a INT) WITH ('connector.type' = 'kafka')")
    """
    assert obstacles(script) == {
        "'connector' = 'mongodb'",
        "'format' = 'msgpack'",
        "CREATE CATALOG with 'type' = 'paimon'",
        "'connector.type' = 'elasticsearch'",
    }


@pytest.mark.parametrize(
    "script",
    [
        f'"""A docstring: WITH ({ABSENT})"""',
        f'print("use WITH ({ABSENT})")',
        f'raise ValueError("no table WITH ({ABSENT})")',
        f"t_env.execute_sql(\"CREATE TABLE t (a INT) WITH ('connector'='print' -- {ABSENT}\\n)\")",
        "t_env.execute_sql(f\"CREATE TABLE t (a INT) WITH ('connector' = '{unknown}')\")",
        "t_env.execute_sql(open('statements.sql').read())",
        "t_env.execute_sql(f'SELEC {unknown}')",
        "t_env.execute_sql(\"CREATE TABLE t (a INT) WITH ('connector' = '{}')\".format(unknown))",
        "template = \"WITH ('connector' = '{name}')\"",
        "from pyflink_on_spark.__main__ import main",
        "t_env.from_path('x').select('a, b.sum as total').where(\"a > 1 && b === 'x'\")",
        "t_env.from_path('x').select('*')",
        "from pyflink.table.expressions import lit\nlit(None, DataTypes.INT())",
        "for part in 'a;b'.split(';'):\n    t_env.execute_sql(part)",
    ],
)
def test_no_verdict_where_nothing_is_known_to_fail(script):
    assert obstacles(script) == set()


@pytest.mark.parametrize(
    ("script", "status"),
    [
        ("t_env.execute_sql('SELEC 1')", Status.WRONG),
        ("t_env.execute_sql(\"CREATE FUNCTION f AS 'x' LANGUAGE JAVA\")", Status.NOT_YET),
        ("t_env.from_path('x').select('a, (b')", Status.WRONG),
    ],
)
def test_statements_and_expressions_that_fail(script, status):
    assert [use.verdict.status for use in uses(script).values() if not use.verdict.status.runs] == [
        status
    ]


def test_a_catalog_of_iceberg_is_known_and_one_of_hive_is_not():
    warehouse = "'type' = 'iceberg', 'warehouse' = '/w'"
    assert not obstacles(
        f"""
        place = input()
        t_env.execute_sql("CREATE CATALOG a WITH ({warehouse}, 'catalog-type' = 'hadoop')")
        t_env.execute_sql(f"CREATE CATALOG b WITH ('type' = 'iceberg', 'uri' = '{{place}}')")
        t_env.execute_sql("CREATE TABLE t (a INT) WITH ('connector' = 'iceberg')")
        """
    )
    (use,) = [
        use
        for use in uses(f't_env.execute_sql("CREATE CATALOG c WITH ({warehouse})")').values()
        if not use.verdict.status.runs
    ]
    assert use.verdict.status is Status.NOT_YET
    assert "'catalog-type' = 'hadoop'" in use.verdict.reason
    assert "called at" not in use.verdict.reason


def test_functions_with_several_arguments_and_constructors_of_the_script():
    script = """
    from pyflink.common.serialization import DeserializationSchema
    from pyflink.datastream.functions import SinkFunction

    class F(ScalarFunction):
        def eval(self, a, b, c=1): return a

    class T(TableFunction):
        def eval(self, a, b): yield a

    class A(AggregateFunction):
        def create_accumulator(self): return [0]
        def get_value(self, accumulator): return accumulator[0]
        def accumulate(self, accumulator, value, weight): pass
        def retract(self, accumulator, value, weight): pass

    class D(DeserializationSchema):
        def __init__(self, charset, strict): super().__init__(None)

    class S(SinkFunction):
        def __init__(self): super().__init__("org.example.Sink")

    F(), T(), A(), D("utf-8", True), S()
    """
    assert obstacles(script) == set()


def test_missing_modules_and_those_beside_the_script(tmp_path, capsys):
    (tmp_path / "beside.py").write_text(SETUP + "def ddl(): return \"'connector' = 'redis'\"\n")
    script = tmp_path / "job.py"
    script.write_text(
        f"{SETUP}import beside\nimport no_such_module.part\nfrom .nowhere import thing\n"
        "try:\n    import not_needed\nexcept ImportError:\n    not_needed = None\n"
    )
    assert main([str(script)]) == 1
    out = capsys.readouterr().out
    assert "job.py: can run with its modules" in out
    assert "beside.py: cannot run as it is" in out
    assert "no_such_module, line" in out
    assert ".nowhere, line" in out
    assert "pip install no_such_module" in out
    assert "not_needed" not in out


def test_packages_have_the_names_that_pip_knows():
    [(name, verdict)] = missing_modules("cv2.aruco", 0)
    assert name == "cv2"
    assert "pip install opencv-python," in verdict.advice


def test_a_folder_gives_a_table_and_a_status(tmp_path, capsys):
    (tmp_path / "good.py").write_text(SETUP)
    (tmp_path / "bad.py").write_text(f'{SETUP}ddl = "WITH ({ABSENT})"')
    (tmp_path / "job.sql").write_text(
        "CREATE TABLE t (a INT) WITH ('connector' = 'datagen');\n\nSELEC * FROM t;\n"
    )
    (tmp_path / "init.sql").write_text("CREATE TABLE people (id SERIAL PRIMARY KEY);")
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "other.py").write_text(f'{SETUP}ddl = "WITH ({ABSENT})"')
    assert main([str(tmp_path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["script", "verdict", "because", "of"]
    told = {line.split()[0].rpartition("/")[2]: line for line in lines[1:4]}
    assert "cannot run as it is" in told["bad.py"]
    assert f"{ABSENT} (line 7)" in told["bad.py"]
    assert "  can run" in told["good.py"]
    assert "SELEC * FROM t (line 3)" in told["job.sql"]
    assert "1 of 3 scripts can run" in lines[5]
    (tmp_path / "bad.py").unlink()
    (tmp_path / "job.sql").unlink()
    assert main([str(tmp_path)]) == 0


def test_a_reader_that_has_read_enough(tmp_path):
    for number in range(40):
        (tmp_path / f"{number}.py").write_text(SETUP)
    read, write = os.pipe()
    os.close(read)
    code = (
        "import sys; from pyflink_on_spark.tools.commands import run_command; "
        f"sys.exit(run_command('check', [{str(tmp_path)!r}]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], stdout=write, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(write)
    assert done.returncode == 141
    assert done.stderr == ""
