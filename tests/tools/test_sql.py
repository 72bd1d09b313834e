"""The SQL client: files of statements, the prompt, and what a statement prints."""

from __future__ import annotations

import os
import signal
import sys
import threading

import pytest

from pyflink_on_spark.__main__ import main
from pyflink_on_spark.testing import local_engine
from pyflink_on_spark.tools.sql.client import Quit, SqlClient
from pyflink_on_spark.tools.sql.statements import masked_statement, split_statements


@pytest.fixture(autouse=True)
def _local_engine():
    with local_engine():
        yield


@pytest.fixture
def lines():
    return []


@pytest.fixture
def client(lines):
    return SqlClient(lambda line: lines.extend(line.split("\n")))


@pytest.mark.parametrize(
    ("text", "statements", "rest"),
    [
        ("SELECT 1; SELECT 2", ["SELECT 1"], "SELECT 2"),
        ("-- a;b\nSELECT 'a;b' /* ; */ FROM `x;y`;\n", ["SELECT 'a;b' /* ; */ FROM `x;y`"], ""),
        ("SELECT 'it''s;';;", ["SELECT 'it''s;'"], ""),
        (
            "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; END; SHOW TABLES;",
            ["EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; END", "SHOW TABLES"],
            "",
        ),
        ("BEGIN STATEMENT SET; INSERT INTO a SELECT 1;", [], None),
        ("SELECT 'open", [], "SELECT 'open"),
        ("/* open", [], ""),
        ("CREATE TABLE a (`end` INT); x", ["CREATE TABLE a (`end` INT)"], "x"),
    ],
)
def test_statements_end_with_semicolons(text, statements, rest):
    assert split_statements(text) == (statements, text if rest is None else rest)


@pytest.mark.parametrize(
    ("statement", "shown"),
    [
        (
            "CREATE TABLE t (a INT) WITH ('password'='it''s', 'url' = 'jdbc:mysql://u:secret@h/d')",
            "CREATE TABLE t (a INT) WITH ('password'='******', 'url' = 'jdbc:mysql://******@h/d')",
        ),
        (
            "CREATE TABLE t -- 'password' = 'x'\n(a INT) /* 'my.token' = 'y' */",
            "CREATE TABLE t -- 'password' = '******'\n(a INT) /* 'my.token' = '******' */",
        ),
        ("SET 's3.secret-key' = 'x'", "SET 's3.secret-key' = ******"),
        ("SET s3.secret-key = x", "SET s3.secret-key = ******"),
        ("SELECT 'password', 'b' = 'c' FROM `password`", None),
        ("SELECT a FROM t /*+ OPTIONS('k' = 'it''s') */ WHERE b = 'x'", None),
        ("/* a */ SET `my.password` = x", "/* a */ SET `my.password` = ******"),
        ("CREATE TABLE t WITH ('password' 'x')", "CREATE TABLE t WITH ('password' '******')"),
        ("CREATE TABLE t WITH (password = 'x')", "CREATE TABLE t WITH (password = '******')"),
        ("CREATE TABLE t WITH ('password': 'x')", "CREATE TABLE t WITH ('password': '******')"),
        ("ALTER TABLE t SET ('password' = U&'x')", "ALTER TABLE t SET ('password' = U&'******')"),
        ("INSERT INTO t VALUES (1, 'password=x')", "INSERT INTO t VALUES (1, 'password=******')"),
    ],
)
def test_a_statement_is_shown_without_its_secrets(statement, shown):
    assert masked_statement(statement) == (shown or statement)


def test_secrets_of_a_file_are_not_printed(client, lines):
    client.run_text(
        "CREATE TABLE t (a INT) WITH ('connector' = 'jdbc', 'password' = 'geheim', "
        "'url' = 'jdbc:mysql://me:geheim@h/d'); SHOW CREATE TABLE t;",
        echo=True,
    )
    assert "geheim" not in "\n".join(lines)
    assert any("'password' = '******'" in line for line in lines if line.startswith("> "))


def test_a_query_prints_its_changes(client, lines):
    client.run("SELECT a, COUNT(*) AS c FROM (VALUES (1), (1)) AS t(a) GROUP BY a")
    assert [line.split() for line in lines if line.startswith("| ")] == [
        ["|", "op", "|", "a", "|", "c", "|"],
        ["|", "+I", "|", "1", "|", "1", "|"],
        ["|", "-U", "|", "1", "|", "1", "|"],
        ["|", "+U", "|", "1", "|", "2", "|"],
    ]
    assert lines[-1] == "3 rows in set"


def test_the_mode_changes_with_the_option(client, lines):
    query = "SELECT a, COUNT(*) AS c FROM (VALUES (1), (1)) AS t(a) GROUP BY a"
    client.run("SET 'execution.runtime-mode' = 'batch'")
    client.run(query)
    assert lines[-1] == "1 row in set"
    client.run("RESET 'execution.runtime-mode'")
    client.run(query)
    assert lines[-1] == "3 rows in set"


def test_a_table_shows_the_rows_that_are_left(client, lines):
    client.run("SET 'sql-client.execution.result-mode' = 'table'")
    client.run("SELECT a, COUNT(*) AS c FROM (VALUES (1), (1)) AS t(a) GROUP BY a")
    shown = [line.split() for line in lines if line.startswith("| ")]
    assert shown == [["|", "a", "|", "c", "|"], ["|", "1", "|", "2", "|"]]
    with pytest.raises(ValueError, match="tableau, changelog, table"):
        client.run("SET 'sql-client.execution.result-mode' = 'tables'")


def test_options_are_set_shown_and_taken_back(client, lines):
    client.run("SET 'table.exec.state.ttl' = '1 h'")
    client.run("SET 'my.password' = 'x'")
    client.run("SET")
    assert "'table.exec.state.ttl' = '1 h'" in lines
    assert "'sql-client.execution.result-mode' = 'tableau'" in lines
    assert not any("'x'" in line for line in lines)
    client.run("RESET")
    lines.clear()
    client.run("SET")
    assert not any("state.ttl" in line for line in lines)


SINKS = """\
CREATE TABLE a (x INT) WITH ('connector' = 'filesystem', 'path' = '{0}/a', 'format' = 'csv');
CREATE TABLE b (x INT) WITH ('connector' = 'filesystem', 'path' = '{0}/b', 'format' = 'csv');
"""


def written(folder):
    return "".join(part.read_text() for part in folder.iterdir() if part.is_file())


@pytest.mark.parametrize("begin", ["EXECUTE STATEMENT SET BEGIN", "BEGIN STATEMENT SET;"])
def test_a_statement_set_is_one_job(client, lines, tmp_path, begin):
    client.run_text(
        SINKS.format(tmp_path)
        + f"{begin}\nINSERT INTO a VALUES (1);\nINSERT INTO b VALUES (2);\nEND;\nSHOW JOBS;",
        echo=False,
    )
    assert sum(line.startswith("Job ID: ") for line in lines) == 1
    client.wait()
    assert written(tmp_path / "a") == "1\n"
    assert written(tmp_path / "b") == "2\n"


def test_inserts_wait_if_that_is_said(client, lines, tmp_path):
    client.run_text(SINKS.format(tmp_path), echo=False)
    client.run("SET 'table.dml-sync' = 'true'")
    client.run("INSERT INTO a VALUES (1)")
    assert lines[-1] == "[INFO] Complete execution of the SQL update statement."
    assert written(tmp_path / "a") == "1\n"
    assert client.running() == 0


def test_a_file_carries_out_another_one(client, lines, tmp_path, capsys):
    (tmp_path / "other.sql").write_text("CREATE VIEW v AS SELECT 1 AS single;")
    client.run(f"SOURCE '{tmp_path}/other.sql'")
    client.run("SHOW VIEWS")
    assert ["|", "v", "|"] in [line.split() for line in capsys.readouterr().out.split("\n")]
    client.run("ADD JAR '/x/flink-connector.jar'")
    assert "flink-connector.jar is passed over" in lines[-1]
    client.run("HELP")
    with pytest.raises(Quit):
        client.run("QUIT")


@pytest.fixture
def interruptible():
    """A process that SIGINT interrupts, also where a shell has started it in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_endless_query_ends_with_ctrl_c(client, lines):
    client.run(
        "CREATE TABLE numbers (n INT) WITH ('connector' = 'datagen', 'rows-per-second' = '1000')"
    )
    seen = threading.Event()
    say = client._say

    def noticing(line):
        say(line)
        if not seen.is_set():
            seen.set()
            os.kill(os.getpid(), signal.SIGINT)

    client._say = noticing
    client.run("SELECT n FROM numbers")
    assert lines[-1] == "[INFO] Query terminated."


def test_a_job_is_stopped(client, lines):
    client.run_text(
        "CREATE TABLE numbers (n INT) WITH ('connector' = 'datagen', 'rows-per-second' = '10');"
        "CREATE TABLE nothing (n INT) WITH ('connector' = 'blackhole');"
        "INSERT INTO nothing SELECT n FROM numbers;",
        echo=False,
    )
    (job_id,) = [line.removeprefix("Job ID: ") for line in lines if line.startswith("Job ID: ")]
    client.run("SHOW JOBS")
    assert lines[-1].startswith(job_id)
    with pytest.raises(ValueError, match="SHOW JOBS"):
        client.run("STOP JOB '00'")
    client.run(f"STOP JOB '{job_id}'")
    client.run("SHOW JOBS")
    assert lines[-1] == "Empty set"


def test_the_command_runs_files(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("sys.path", list(sys.path))
    (tmp_path / "init.sql").write_text("CREATE VIEW v AS SELECT 7 AS seven;")
    (tmp_path / "job.sql").write_text(
        SINKS.format(tmp_path) + "INSERT INTO a SELECT seven FROM v;\n-- the end\n"
    )
    files = ["-i", str(tmp_path / "init.sql"), "-f", str(tmp_path / "job.sql")]
    assert main(["sql", "embedded", *files, "-D", "parallelism.default=1"]) == 0
    assert written(tmp_path / "a") == "7\n"
    assert "> INSERT INTO a SELECT seven FROM v;" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "status", "told"),
    [
        ("SELECT nope FROM nothing; SHOW TABLES;", 1, "ValidationError: "),
        ("CREATE TABLE t (a INT) WITH ('connector' = 'prints'); SELECT * FROM t;", 1, "'prints'"),
        ("QUITE;", 1, "SqlParseError"),
    ],
)
def test_a_file_ends_with_its_first_error(tmp_path, capsys, monkeypatch, text, status, told):
    monkeypatch.setattr("sys.path", list(sys.path))
    (tmp_path / "job.sql").write_text(text)
    assert main(["sql", "-f", str(tmp_path / "job.sql")]) == status
    error = capsys.readouterr().err
    assert error.startswith("[ERROR] Could not execute SQL statement. Reason:\n")
    assert told in error
    assert "Traceback" not in error


def test_wrong_command_lines(tmp_path, capsys):
    assert main(["sql", "-f", str(tmp_path / "absent.sql")]) == 2
    assert "there is no file" in capsys.readouterr().err
    assert main(["sql", "job.sql"]) == 2
    assert "-f job.sql" in capsys.readouterr().err


@pytest.mark.parametrize("mode", ["tableau", "changelog", "table"])
def test_rows_bring_no_commands_to_the_terminal(client, lines, mode):
    client.run(f"SET 'sql-client.execution.result-mode' = '{mode}'")
    client.run("SELECT U&'a\\001b]0;owned\\0007' || U&'\\202ex' AS hostile")
    shown = "\n".join(lines)
    assert "a\\x1b]0;owned\\x07\\u202ex" in shown
    assert not set(shown) & set("\x1b\x07\u202e")


class TestPrompt:
    @pytest.fixture(autouse=True)
    def _package(self):
        pytest.importorskip("prompt_toolkit")

    def statements(self, client, keys, tmp_path):
        from prompt_toolkit.application import create_app_session
        from prompt_toolkit.input import create_pipe_input
        from prompt_toolkit.output import DummyOutput

        from pyflink_on_spark.tools.sql.prompt import Prompt

        with create_pipe_input() as pipe:
            pipe.send_text(keys)
            with create_app_session(input=pipe, output=DummyOutput()):
                return list(Prompt(client, str(tmp_path / "history")).statements())

    def test_statements_take_several_lines(self, client, tmp_path):
        keys = "SELECT\n1;\nSHOW TABLES; SELECT 2;\n\x04"
        assert self.statements(client, keys, tmp_path) == ["SELECT\n1", "SHOW TABLES", "SELECT 2"]
        assert "+SHOW TABLES; SELECT 2;" in (tmp_path / "history").read_text()

    def test_ctrl_c_drops_the_line(self, client, tmp_path):
        assert self.statements(client, "SELECT 1\x03SELECT 2;\n\x04", tmp_path) == ["SELECT 2"]

    def test_names_are_completed(self, client):
        from prompt_toolkit.completion import CompleteEvent
        from prompt_toolkit.document import Document

        from pyflink_on_spark.tools.sql.prompt import SqlCompleter

        client.run("CREATE TABLE orders (order_id INT) WITH ('connector' = 'print')")
        found = SqlCompleter(client).get_completions(Document("SELECT ord"), CompleteEvent())
        shown = {each.text: each.display_meta_text for each in found}
        assert shown["orders"] == "table"
        assert shown["order_id"] == "column"
        assert shown["ORDER"] == "word"

    def test_names_are_looked_up_once_for_a_prompt(self, client, monkeypatch):
        from prompt_toolkit.completion import CompleteEvent
        from prompt_toolkit.document import Document

        from pyflink_on_spark._compat.errors import PyFlinkOnSparkError
        from pyflink_on_spark.tools.sql.prompt import SqlCompleter

        asked = []

        class Server(dict):
            def __getitem__(self, name):
                asked.append(name)
                raise PyFlinkOnSparkError("a column has no type")

        database = client.t_env._session.catalog.database(("default_catalog", "default_database"))
        monkeypatch.setattr(database, "relations", Server(orders=None))
        completer = SqlCompleter(client)

        def completed():
            found = completer.get_completions(Document("SELECT orde"), CompleteEvent())
            return [each.text for each in found]

        assert completed() == completed() == ["ORDER", "orders"]
        assert asked == ["orders"]
        completer.forget()
        assert completed() == ["ORDER", "orders"]
        assert asked == ["orders"] * 2
