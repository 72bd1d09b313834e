"""The command ``flink`` that an environment may have."""

from __future__ import annotations

import subprocess

from pyflink_on_spark.tools.flink_command import main


def test_the_command_runs_what_flink_run_runs(tmp_path, capsys):
    script = tmp_path / "job.py"
    script.write_text("import sys; print(sys.argv[1:])\n", encoding="utf-8")
    assert main([str(tmp_path / "bin")]) == 0
    assert "runs, lists and stops jobs" in capsys.readouterr().out
    line = ["run", "-m", "jobmanager:8081", "-py", "job.py", "--input", "x"]
    done = subprocess.run(
        [tmp_path / "bin" / "flink", *line],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "['--input', 'x']\n"
    assert "-m jobmanager:8081: passed over" in done.stderr


def test_the_command_of_a_flink_is_left_alone(tmp_path, capsys):
    (tmp_path / "flink").write_text("#!/bin/sh\n", encoding="utf-8")
    assert main([str(tmp_path)]) == 1
    assert "is not of this command" in capsys.readouterr().err
    assert (tmp_path / "flink").read_text(encoding="utf-8") == "#!/bin/sh\n"


def test_it_is_written_again(tmp_path):
    assert main([str(tmp_path)]) == main([str(tmp_path)]) == 0


def test_the_client_of_sql(tmp_path):
    assert main([str(tmp_path)]) == 0
    done = subprocess.run(
        [tmp_path / "sql-client.sh", "gateway"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith("gateway: there is no SQL gateway")
