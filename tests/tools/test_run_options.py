"""What stands before a script."""

from __future__ import annotations

import pytest

from pyflink_on_spark.tools.operate.run_options import RunOptions, UsageError, help_lines, parse


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
        ("-m host:8081 job.py", "names a cluster of Flink"),
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
