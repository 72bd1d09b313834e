"""The options before a script."""

from __future__ import annotations

import pytest

from pyflink_on_spark.tools.operate.run_options import (
    RunOptions,
    UsageError,
    help_lines,
    parse,
    without_cluster,
)


def test_flinks_options():
    given = "-d -s file:///sp -n -p 4 -Da.b=c=d -D x --conf spark.a=b --master=yarn job.py -p 9"
    assert parse(given.split()) == RunOptions(
        script="job.py",
        arguments=["-p", "9"],
        configuration={
            "execution.state-recovery.path": "file:///sp",
            "execution.state-recovery.ignore-unclaimed-state": "true",
            "parallelism.default": "4",
            "a.b": "c=d",
            "x": "true",
        },
        spark={"spark.a": "b", "spark.master": "yarn"},
        detached=True,
    )


@pytest.mark.parametrize("line", ["-p3 job.py", "--parallelism 3 job.py", "--parallelism=3 job.py"])
def test_a_value_may_stand_in_three_places(line):
    assert parse(line.split()).configuration == {"parallelism.default": "3"}


def test_a_script_by_an_option_is_followed_by_its_own_arguments():
    options = parse(["-py", "job.py", "-p", "2", "--input", "x", "-p", "3"])
    assert (options.script, options.arguments) == ("job.py", ["--input", "x", "-p", "3"])
    options = parse(["-pym", "my.job", "-pyfs", "a.py,b.py", "one"])
    assert (options.script, options.module, options.arguments) == ("my.job", True, ["one"])
    assert options.configuration == {"python.files": "a.py,b.py"}


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("-x job.py", "there is no option -x"),
        ("-px job.py", "there is no option -px"),
        ("-s", "-s needs a value: -s PATH"),
        ("-D =x job.py", "-D takes KEY=VALUE"),
        ("-c Main job.py", "runs a Java program"),
        ("--pyE x --pyF", "--pyF needs a value"),
        ("--py job.py", "there is no option --py"),
        ("--pyx job.py", "there is no option --pyx"),
        ("--yarn x job.py", "--yarn can mean -yat, -yd"),
        ("--conf a=b job.py", "--conf takes spark.SOMETHING=VALUE"),
    ],
)
def test_command_lines_that_are_wrong(line, told):
    with pytest.raises(UsageError, match=told):
        parse(line.split())


def test_the_help_has_a_line_for_each_option_that_means_something():
    text = "\n".join(help_lines())
    assert all(option in text for option in ("--detached", "-D KEY=VALUE", "--conf", "-pyreq"))
    assert "--in-background" not in text


def test_engines_and_servers():
    options = parse(["--engine", "structured", "--remote=sc://host:15002", "job.py"])
    assert options.configuration == {"pyflink-on-spark.engine": "structured"}
    assert options.spark == {"spark.remote": "sc://host:15002"}


def test_options_without_a_counterpart_are_told():
    options = parse(
        ["-m", "jm:8081", "-py", "job.py", "-j", "kafka.jar", "-yid", "app_1", "-d", "--input", "x"]
    )
    assert options.detached
    assert options.arguments == ["--input", "x"]
    assert options.jobmanager == "jm:8081"
    assert options.notes == [
        "-j kafka.jar: passed over, since connectors and functions are Python here, without jars",
        "-yid app_1: passed over, since the job runs on Spark; --master yarn runs it on YARN",
    ]


def test_a_local_target_is_what_happens_anyway():
    assert parse(["-t", "local", "-py", "job.py"]).notes == []


def test_long_names_may_have_one_dash_or_be_cut():
    options = parse(["-pyFiles", "a.py", "--pyExec", "python3", "--jobm=h:1", "-python", "job.py"])
    assert options.configuration == {"python.files": "a.py", "python.executable": "python3"}
    assert options.script == "job.py"
    assert (options.jobmanager, options.notes) == ("h:1", [])


def test_own_options_after_the_script_are_the_script_s():
    options = parse(["-py", "job.py", "--master", "yarn"])
    assert (options.arguments, options.spark) == (["--master", "yarn"], {})


def test_operations_pass_over_options_of_a_cluster():
    kept, cluster = without_cluster(["-m", "host:8081", "-a", "-Dkey=value", "-yid", "x", "job"])
    assert kept == ["-a", "job"]
    assert cluster.jobmanager == "host:8081"
    assert [note.partition(":")[0] for note in cluster.notes] == ["-yid x"]


def test_quiet():
    assert parse(["-q", "job.py"]).quiet
