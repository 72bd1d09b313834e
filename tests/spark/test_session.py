"""Starting Spark, joining a running one, and what the user's console and machine see of it."""

from __future__ import annotations

import errno
import logging
import os
import socket
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from pyflink_on_spark._cluster.transport.result_channel import ResultServer, connect
from pyflink_on_spark._compat.errors import EnvironmentSetupError
from pyflink_on_spark._spark.session import session as session_module
from pyflink_on_spark._spark.session.session import obtain_session, spark_defaults

ROOT = Path(__file__).resolve().parents[2]


def run_script(script, cwd, **environment):
    """Run a script in a fresh process whose only way to this package is the path."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name not in {"PYSPARK_PYTHON", "SPARK_LOCAL_IP"}
    }
    script = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n" + textwrap.dedent(script)
    return subprocess.run(
        [sys.executable, "-c", script],
        cwd=cwd,
        env={**inherited, **environment},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )


def test_a_list_of_processes_shows_no_secret_of_spark(tmp_path):
    script = """
        from pathlib import Path
        from pyflink_on_spark._spark.session.session import obtain_session
        session = obtain_session({
            "spark.master": "local[1]", "spark.hadoop.fs.s3a.secret.key": "pl4nted",
            "spark.hadoop.javax.jdo.option.ConnectionURL": "jdbc:x://host/d?password=pl4nted",
            "spark.hadoop.shown": "sh0wn",
        })
        arguments = [
            path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()
        ]
        print(sum(b"fs.s3a.secret.key" in each or b"password=" in each for each in arguments))
        print(sum(b"spark.hadoop.shown=sh0wn" in each for each in arguments) > 0)
        known = session.sparkContext._jsc.hadoopConfiguration()
        print(known.get("fs.s3a.secret.key"), known.get("javax.jdo.option.ConnectionURL"))
    """
    (tmp_path / "script.py").write_text(textwrap.dedent(script))
    read = f"exec(open({str(tmp_path / 'script.py')!r}).read())"
    done = run_script(read, tmp_path)
    assert done.stdout.splitlines() == [
        "0", "True", "pl4nted jdbc:x://host/d?password=pl4nted"
    ], done.stderr  # fmt: skip


@pytest.mark.parametrize(("settings", "held"), [
    ({"spark.hadoop.fs.s3a.secret.key": "x", "spark.hadoop.a": "b"},
     {"spark.hadoop.fs.s3a.secret.key"}),
    ({"spark.driver.extraJavaOptions": "-Dpassword=x", "spark.jars.repositories": "h://a:b@c"},
     set()),
])  # fmt: skip
def test_settings_that_a_java_process_need_not_have_at_its_start(settings, held):
    assert session_module.secret_settings(settings) == held


def test_without_temporary_files_the_error_names_their_folder(monkeypatch):
    def nowhere(**_):
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr("tempfile.mkdtemp", nowhere)
    monkeypatch.setattr(spark_defaults, "_folders", {})
    with pytest.raises(OSError, match=r"cannot be written \(No usable .*variable TMPDIR to a"):
        spark_defaults.scratch_folder()


def test_names_that_cannot_be_resolved_are_one_error(monkeypatch):
    def gone(*_, **__):
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    monkeypatch.setattr("pyspark.sql.SparkSession.Builder.getOrCreate", gone)
    with pytest.raises(EnvironmentSetupError, match=r"cannot be resolved \(Temporary .*/etc/hosts"):
        session_module._build({})


def test_a_first_start_is_quiet_private_and_leaves_nothing(tmp_path):
    temporary = tmp_path / "with a blank"
    temporary.mkdir()
    done = run_script(
        """
        import os, socket, threading
        from pyflink_on_spark._spark.session.session import obtain_session
        from pyflink_on_spark._spark.session.spark_defaults import scratch_folder
        sessions = []
        threads = [threading.Thread(target=lambda: sessions.append(
            obtain_session({"spark.app.name": "mine", "spark.sql.shuffle.partitions": "3"})))
            for _ in range(3)]
        [t.start() for t in threads]; [t.join() for t in threads]
        assert len({s.sparkContext.applicationId for s in sessions}) == 1
        spark = sessions[0]
        assert scratch_folder().stat().st_mode & 0o777 == 0o700
        def inspect(batches):
            import pyarrow as pa, sys, pyflink_on_spark
            for batch in batches:
                pass
            yield pa.RecordBatch.from_pylist([{"python": sys.executable,
                "pandas": str("pandas" in sys.modules)}])
        rows = spark.range(0, 1, 1, 1).mapInArrow(inspect, "python string, pandas string")
        [row] = rows.collect()
        assert row.python == sys.executable and row.pandas == "False", row
        def fail(batches):
            raise KeyError("a user's mistake")
            yield
        try:
            spark.range(1).mapInArrow(fail, "id long").collect()
        except Exception as error:
            assert "a user's mistake" in str(error)
        conf = dict(spark.sparkContext.getConf().getAll())
        assert conf["spark.driver.host"] == "127.0.0.1" and conf["spark.app.name"] == "mine"
        assert conf["spark.sql.shuffle.partitions"] == "3"
        assert "pyspark.pandas" not in sys.modules
        print("done", scratch_folder())
        """,
        tmp_path,
        TMPDIR=str(temporary),
        JAVA_HOME="/nowhere",
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout.startswith("done ")
    # Reading to the end of its output has waited for the JVM, and for its companion.
    # What records the archive for the next start has a folder of its own as long as it works.
    deadline = time.monotonic() + 120
    while list(temporary.glob("pyflink-on-spark-*")):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert not [entry for entry in tmp_path.iterdir() if entry != temporary]


@pytest.mark.parametrize(
    ("end", "last"),
    [
        ("", ""),
        ("raise SystemExit('no table x')", "no table x"),
        ("os.fork() or sys.exit(); os.wait(); os.kill(os.getpid(), 9)", "KILLED"),
        ("os.kill(os.getpid(), 9)", "KILLED"),
        ("say_goodbye(os.getpid()); os._exit(1)", ""),
    ],
)
def test_the_last_line_after_all_that_java_says_is_the_cause(tmp_path, end, last):
    done = run_script(
        f"""
        import os, pathlib, subprocess
        from pyflink_on_spark._spark.session.session import say_goodbye, watched_launch
        with watched_launch(pathlib.Path("scratch")):
            java = subprocess.Popen(["sh", "-c", "cat; echo at java.base/x >&2"], stdin=-1)
        print(os.getpid(), flush=True)
        {end}
        """,
        tmp_path,
    )
    said = done.stderr.splitlines()
    assert "at java.base/x" in said
    if last == "KILLED":
        killed = f"the driver (process {done.stdout.split()[0]}) has ended without a word: it was "
        assert said[-1].startswith(killed)
    else:
        assert [line for line in said if line != "at java.base/x"] == [last] * bool(last)


def test_a_stopped_session_is_replaced_and_a_running_one_is_joined(tmp_path):
    done = run_script(
        """
        from pyspark.sql import SparkSession
        from pyflink_on_spark._spark.session.session import obtain_session
        first = obtain_session({"spark.master": "local[1]"})
        first.stop()
        second = obtain_session({"spark.master": "local[1]"})
        assert second.range(3).count() == 3
        second.sparkContext.stop()
        users = SparkSession.builder.master("local[1]").appName("theirs").getOrCreate()
        users.conf.set("spark.sql.shuffle.partitions", "5")
        for _ in range(2):
            joined = obtain_session({"spark.executor.memory": "3g",
                                     "spark.sql.shuffle.partitions": "4"})
        assert joined.sparkContext.appName == "theirs"
        assert joined.conf.get("spark.sql.shuffle.partitions") == "4"
        assert joined.conf.get("spark.sql.adaptive.enabled") == "true"
        assert joined.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch") == "10000"
        assert users.conf.get("spark.sql.shuffle.partitions") == "5"
        assert joined.range(3).count() == 3
        """,
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("spark.executor.memory") == 1
    assert "spark.sql.shuffle.partitions" not in done.stderr


def test_a_jvm_that_does_not_start_is_one_error(tmp_path):
    done = run_script(
        """
        from pyflink_on_spark._spark.session.session import obtain_session
        obtain_session({"spark.driver.extraJavaOptions": "-XX:NoSuchOption=1 -Xmx7g"})
        """,
        tmp_path,
        PYFLINK_ON_SPARK_JVM_ARCHIVE="off",
    )
    assert done.returncode != 0
    assert "EnvironmentSetupError" in done.stderr.splitlines()[-1]


def test_without_java_nothing_is_launched(monkeypatch):
    monkeypatch.setattr(session_module, "_living_session", lambda: None)
    monkeypatch.setattr(session_module, "_launch", lambda _: pytest.fail("launched"))
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(EnvironmentSetupError, match="Java 17 or 21"):
        obtain_session({})


def test_the_same_wishes_get_the_same_session(spark):
    again = obtain_session({"spark.master": "local[2]"})
    assert again.sparkContext.applicationId == spark.sparkContext.applicationId
    assert again.conf.get("spark.sql.shuffle.partitions") == "2"


def test_other_wishes_get_a_session_beside_it(spark):
    other = obtain_session({"spark.sql.shuffle.partitions": "7"})
    assert other.conf.get("spark.sql.shuffle.partitions") == "7"
    assert spark.conf.get("spark.sql.shuffle.partitions") == "2"


def test_settings_that_come_too_late_are_named_once(spark, caplog):
    with caplog.at_level(logging.WARNING, "pyflink_on_spark"):
        for _ in range(2):
            obtain_session({"spark.driver.cores": "9"})
    assert [record.getMessage() for record in caplog.records] == [
        "Spark was already running, so these settings have no effect: spark.driver.cores"
    ]


class Prepared:
    """A Spark that was started with some settings before there was a program."""

    def __init__(self, monkeypatch, **settings):
        self.sparkContext = self.conf = self
        self.applicationId, self.stopped = "prepared", False
        monkeypatch.setattr(session_module, "_prepared", True)
        monkeypatch.setitem(session_module._started, "prepared", settings)

    def isModifiable(self, key):  # noqa: N802 - as Spark has it
        return key.startswith("spark.sql.")

    def stop(self):
        self.stopped = True


@pytest.mark.parametrize(
    ("wished", "is_left"),
    [
        ({}, False),
        ({"spark.master": "local[2]"}, False),
        ({"spark.sql.ansi.enabled": "false"}, False),
        ({"spark.master": "local[4]"}, True),
        ({"spark.executor.memory": "4g"}, True),
    ],
)
def test_a_prepared_spark_is_left_by_a_program_that_wishes_another(monkeypatch, wished, is_left):
    alive = Prepared(monkeypatch, **{"spark.master": "local[2]"})
    assert session_module._left_behind(alive, wished) is is_left
    assert alive.stopped is is_left
    assert not session_module._left_behind(alive, {"spark.master": "local[9]"})


def test_other_threads_get_the_running_spark(spark):
    found = []
    thread = threading.Thread(
        target=lambda: found.append(obtain_session({}).sparkContext.applicationId)
    )
    thread.start()
    thread.join()
    assert found == [spark.sparkContext.applicationId]


def test_workers_reach_the_driver(spark):
    with ResultServer() as server:
        channel = server.open_channel("numbers")
        address = server.address

        def send(batches):
            from pyspark import TaskContext

            task = TaskContext.get().partitionId()
            with connect(address, "numbers", task) as sender:
                for batch in batches:
                    sender.send(batch.column(0).to_pylist())
                    yield batch.slice(0, 0)

        spark.range(0, 100, 1, 4).mapInArrow(send, "id long").collect()
        channel.finish()
        assert sorted(channel) == list(range(100))


def test_a_users_defaults_file_is_read(tmp_path, monkeypatch):
    (tmp_path / "spark-defaults.conf").write_text(
        "# a comment\nspark.master   local[3]\nspark.app.name=theirs\n  spark.ui.enabled : true \n"
    )
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    assert spark_defaults.settings_from_file() == {
        "spark.master": "local[3]",
        "spark.app.name": "theirs",
        "spark.ui.enabled": "true",
    }


@pytest.mark.parametrize(
    ("memory", "heap"), [(1, "1024m"), (8, "2048m"), (12, "3072m"), (256, "4096m")]
)
def test_the_heap_is_a_quarter_within_bounds(monkeypatch, memory, heap):
    monkeypatch.setattr(spark_defaults, "memory_of_machine", lambda: memory * 1024**3)
    assert spark_defaults.heap_size() == heap


def test_cores_of_a_master():
    assert [spark_defaults.cores_of(m) for m in ("local", "local[4]", "local[6,2]")] == [1, 4, 6]
    assert spark_defaults.cores_of("local[*]") >= 1


def test_the_users_java_options_come_last():
    joined = spark_defaults.joined(["-Da=with blank"], "-Xss2m")
    assert joined == "'-Da=with blank' -Xss2m"


@pytest.mark.parametrize(
    ("settings", "environment", "expected"),
    [
        ({}, None, sys.executable),
        ({}, "python9", None),
        ({"spark.pyspark.python": "python8"}, "python9", "python8"),
    ],
)
def test_the_workers_interpreter(monkeypatch, settings, environment, expected):
    if environment is None:
        monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    else:
        monkeypatch.setenv("PYSPARK_PYTHON", environment)
    assert spark_defaults.interpreter_for_workers(settings) == expected


@pytest.mark.parametrize(
    ("settings", "expected"),
    [({}, "python9"), ({"spark.pyspark.python": "env/bin/python"}, "env/bin/python")],
)
def test_the_interpreter_of_a_cluster(monkeypatch, tmp_path, settings, expected):
    """PySpark takes it from the environment alone."""
    monkeypatch.setenv("PYSPARK_PYTHON", "python9")
    java = SimpleNamespace(home=tmp_path)
    with session_module._environment(java, settings, is_local=False):
        assert os.environ["PYSPARK_PYTHON"] == expected
