"""Scripts that are submitted to the server of all jobs, with drivers that need no Spark."""

from __future__ import annotations

import contextlib
import http.client
import io
import json
import os
import ssl
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from pyflink_on_spark._operate.client import Door, OperationError
from pyflink_on_spark._operate.dispatcher import drivers as module
from pyflink_on_spark._operate.dispatcher.drivers import PYTHON_DRIVER, Drivers, Submission
from pyflink_on_spark._operate.dispatcher.submissions import SubmissionRoutes, Uploads
from pyflink_on_spark._operate.server.network import NetworkServer
from pyflink_on_spark._operate.server.rest.routing import FormPart, Request, RestError, Router
from pyflink_on_spark._operate.server.rest.server import parts_of
from pyflink_on_spark._operate.view.job_records import VARIABLE
from pyflink_on_spark._operate.view.server_record import (
    TOKEN_VARIABLE,
    ServerRecord,
    lasting_token,
    running_server,
    server_folder,
    write_server,
)
from pyflink_on_spark._options.option import parse_yaml
from pyflink_on_spark.tools.commands import run_command
from pyflink_on_spark.tools.operate import commands
from pyflink_on_spark.tools.operate.commands import find_server, submit
from pyflink_on_spark.tools.operate.run_options import UsageError, parse
from pyflink_on_spark.tools.serve import command
from pyflink_on_spark.tools.serve.command import Server, _parser

pytestmark = pytest.mark.slow

JOB = """
import json, os, sys
from pyflink_on_spark._operate.server.job_registry import DRIVER
from pyflink_on_spark._operate.view.jobs import OperatedJob
from pyflink_on_spark.common import JobStatus
from tests.operate.operated import Handle, job
made = job("submitted")
handle = Handle(made)
print(json.dumps([sys.argv[1:], os.environ.get("PLANTED"), os.getcwd()]))
DRIVER.offer(OperatedJob(made, handle))
handle.enter(JobStatus.FINISHED)
"""
NO_JOB = "import sys\nprint('no job')\nsys.exit(3)\n"


@pytest.fixture
def script(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.getcwd())
    file = tmp_path / "a job.py"
    file.write_text(JOB, encoding="utf-8")
    return file


@pytest.fixture
def server(home, monkeypatch):
    monkeypatch.delenv("PYFLINK_ON_SPARK_TOKEN", raising=False)
    made = Server({"rest.port": "0"}, prepared=0)
    yield made
    made.close(20)


@pytest.fixture
def door(server):
    return Door(server.record.url, server.record.token)


def upload(door, name, content):
    body = (
        b'--b\r\nContent-Disposition: form-data; name="jarfile"; filename="' + name.encode()
        + b'"\r\nContent-Type: x/y\r\n\r\n' + content + b"\r\n--b--\r\n"
    )  # fmt: skip
    kind = "multipart/form-data; boundary=b"
    return door.ask("POST", "/jars/upload", body, kind=kind)


def refusal(call):
    with pytest.raises(OperationError) as refused:
        call()
    return str(refused.value)


def test_flinks_paths_upload_and_run_a_script(door, script, records):
    reply = upload(door, "my job.py", script.read_bytes())
    name = json.loads(reply.content)["filename"].rpartition("/")[2]
    (file,) = door.told("GET", "/jars")["files"]
    assert (file["id"], file["name"]) == (name, "my_job.py")
    body = {"programArgsList": ["--input", "a b"], "parallelism": 2, "entryClass": None}
    job = door.told("POST", f"/jars/{name}/run", body)["jobid"]
    (record,) = records.all()
    assert (record.id, record.name) == (job, "submitted")
    assert '[["--input", "a b"], null' in door.ask("GET", f"/jobs/{job}/log").content.decode()
    assert door.told("DELETE", f"/jars/{name}") == {}
    assert "There is no script" in refusal(lambda: door.told("POST", f"/jars/{name}/run", {}))


def test_a_script_that_ends_without_a_job(door, script):
    reply = upload(door, "none.py", NO_JOB.encode())
    name = json.loads(reply.content)["filename"].rpartition("/")[2]
    told = refusal(lambda: door.told("POST", f"/jars/{name}/run", {}))
    assert "none.py has ended with status 3, without a job that runs" in told
    assert "no job" in told.splitlines()


def test_run_m_follows_the_driver(server, script, capfdbinary, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PLANTED", "of the shell")
    port = server.record.url.rpartition(":")[2]
    options = parse(["-m", f"localhost:{port}", "-p", "2", script.name, "--input", "x"])
    found = find_server(options)
    assert found.here
    assert submit(options, found) == 0
    told = capfdbinary.readouterr().out.decode()
    assert "Job has been submitted with JobID" in told
    assert json.dumps([["--input", "x"], "of the shell", str(tmp_path)]) in told


def test_run_m_has_the_exit_status_of_the_script(server, tmp_path, capfd):
    script = tmp_path / "fails.py"
    script.write_text(NO_JOB, encoding="utf-8")
    port = server.record.url.rpartition(":")[2]
    for words in (["-m", f"127.0.0.1:{port}"], ["-d", "-m", f"127.0.0.1:{port}"]):
        options = parse([*words, str(script)])
        assert submit(options, find_server(options)) == 3
    assert capfd.readouterr().out.count("no job") == 2


def test_a_server_elsewhere_gets_the_script_itself(server, script, capfd, monkeypatch):
    port = server.record.url.rpartition(":")[2]
    monkeypatch.setenv("PYFLINK_ON_SPARK_TOKEN", server.record.token)
    monkeypatch.setattr(commands, "running_server", lambda: None)
    options = parse(["-d", "-m", f"127.0.0.1:{port}", str(script)])
    found = find_server(options)
    assert not found.here
    assert submit(options, found) == 0
    assert capfd.readouterr().out.startswith("Job has been submitted with JobID")
    assert [file.name[33:] for file in (server_folder() / "scripts").iterdir()] == ["a_job.py"]


@pytest.mark.parametrize(
    ("token", "why"),
    [(None, "what answers there asks for a token"), ("old", "the token is not that server's")],
)
def test_without_the_token_nothing_runs_elsewhere(server, monkeypatch, token, why):
    monkeypatch.delenv("PYFLINK_ON_SPARK_TOKEN", raising=False)
    if token is not None:
        monkeypatch.setenv("PYFLINK_ON_SPARK_TOKEN", token)
    monkeypatch.setattr(commands, "running_server", lambda: None)
    port = server.record.url.rpartition(":")[2]
    with pytest.raises(UsageError, match=f"{why}; set PYFLINK_ON_SPARK_TOKEN"):
        find_server(parse(["-m", f"127.0.0.1:{port}", "job.py"]))


def test_an_address_without_a_server(home, monkeypatch):
    monkeypatch.delenv("PYFLINK_ON_SPARK_TOKEN", raising=False)
    options = parse(["-m", "jobmanager:8081", "job.py"])
    assert find_server(options) is None
    assert options.notes[0].startswith("-m jobmanager:8081: passed over")
    monkeypatch.setenv("PYFLINK_ON_SPARK_TOKEN", "x")
    with pytest.raises(UsageError, match="`serve` starts the server that takes scripts"):
        find_server(parse(["-m", "127.0.0.1:1", "job.py"]))


def test_a_token_is_always_needed_and_lasts(server, home):
    record = running_server()
    assert record == server.record
    assert lasting_token() == record.token
    assert (server_folder() / "server.json").stat().st_mode & 0o077 == 0
    for token in (None, "wrong"):
        stranger = Door(record.url, token)
        assert "The token is wrong" in refusal(lambda: stranger.told("GET", "/jobs"))  # noqa: B023
        assert "The token is wrong" in refusal(lambda: stranger.told("POST", "/drivers", {}))  # noqa: B023
    server.close()
    assert running_server() is None


def test_where_the_token_is(home, monkeypatch, capsys):
    monkeypatch.setattr(command, "_wait_for_signal", lambda: None)
    told = []
    for options in ([], ["-D", "pyflink-on-spark.rest.token=planted"]):
        assert command.main(["--port", "0", "--prepared", "0", *options]) == 0
        told.append(capsys.readouterr().out)
    monkeypatch.setenv(TOKEN_VARIABLE, "planted")
    command.set_base_configuration({})
    assert command.main(["--port", "0", "--prepared", "0"]) == 0
    told.append(capsys.readouterr().out)
    places = [text.splitlines()[1].removeprefix("The token is in ") for text in told]
    assert places[0] == str(server_folder() / "token")
    assert Path(places[0]).read_text(encoding="ascii")
    assert places[1:] == ["pyflink-on-spark.rest.token", TOKEN_VARIABLE]
    assert "planted" not in "".join(told)


def test_files_are_taken_after_the_token_only(server):
    with contextlib.suppress(OSError):  # the server closes before it has read everything
        assert upload(Door(server.record.url), "job.py", b"x" * 2_000_000).status == 403
    assert list((server_folder() / "scripts").iterdir()) == []


@pytest.mark.parametrize(
    ("name", "kept"),
    [("../../x.py", "x.py"), ("/etc/cron.d/y.py", "y.py"), ("..\\z.zip", "z.zip"),
     ("a" * 300 + ".py", "a" * 97 + ".py"), ("<b>;$(id).py", "_b____id_.py")],
)  # fmt: skip
def test_a_script_has_a_name_of_ours(tmp_path, name, kept):
    file = Uploads(tmp_path).add(FormPart(name, b"x"))
    assert file.parent == tmp_path
    assert file.name[33:] == kept
    assert file.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("name", ["x.jar", "x.py/..", "", ".py.txt", "x.py\0"])
def test_what_is_no_script(tmp_path, name):
    with pytest.raises(RestError):
        Uploads(tmp_path).add(FormPart(name, b"x"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["../token", "..", "token", "0" * 32 + "_..py/../../token"])
def test_scripts_are_found_by_their_ids_only(tmp_path, name):
    (tmp_path / "token").write_text("secret")
    (tmp_path / "scripts").mkdir()
    with pytest.raises(RestError):
        Uploads(tmp_path / "scripts").get(name)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"entryClass": "org.example.Main"}, "entryClass org.example.Main: job.py is one script"),
        ({"entryClass": 1}, "entryClass has to be a text"),
        (
            {"entryClass": PYTHON_DRIVER, "programArgs": "-py /x/other.py"},
            "-py /x/other.py: the script that was brought is job.py",
        ),
        ({"entryClass": PYTHON_DRIVER, "programArgsList": ["-pym", "a.b"]}, "-pym a.b: job.py is"),
        ({"jobId": "0" * 32}, "the driver gives a job its id"),
        ({"parallelism": "many"}, "parallelism is 'many'"),
        ({"programArgsList": "x"}, "has to be a list of texts"),
        ({"programArgs": "'x"}, "programArgs cannot be read"),
        ({"flinkConfiguration": {"a": 1}}, "has to be an object of texts"),
    ],
)
def test_requests_that_cannot_be_carried_out(tmp_path, records, body, told):
    file = Uploads(tmp_path).add(FormPart("job.py", b""))
    router = Router()
    SubmissionRoutes(Drivers(), records, Uploads(tmp_path)).add_to(router)
    answer = router.answer(Request("POST", f"/jars/{file.name}/run", {}, body))
    assert answer.status == 400
    assert told in answer.content["errors"][0]


@pytest.fixture
def zipped(tmp_path):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name in ("__main__.py", "word_count.py", "jobs/__main__.py"):
            archive.writestr(name, "")
    return Uploads(tmp_path).add(FormPart("jobs.zip", content.getvalue()))


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, "FILE"),
        ({"entryClass": "__main__", "programArg": "-p,3"}, "FILE -p 3"),
        ({"entryClass": "word_count", "programArg": "-p,3"},
         "-Dpython.files=FILE --as-module word_count -p 3"),
        ({"entryClass": "jobs", "flinkConfiguration": {"python.files": "a.py"}},
         "-Dpython.files=FILE,a.py --as-module jobs"),
        ({"entryClass": PYTHON_DRIVER, "programArgs": "-pym word_count -pyexec python3 x"},
         "-Dpython.files=FILE -pym word_count -pyexec python3 x"),
        ({"entryClass": PYTHON_DRIVER, "programArgs": "-pyfs a.py -py /opt/jobs.zip --input x"},
         "-pyfs a.py -py FILE --input x"),
        ({"entryClass": PYTHON_DRIVER, "programArgs": "--input x"}, "FILE --input x"),
        ({"entryClass": "other"}, "entryClass other: jobs.zip has no such module."),
    ],
)  # fmt: skip
def test_the_entry_of_a_zip(tmp_path, records, zipped, body, words):
    routes = SubmissionRoutes(Drivers(), records, Uploads(tmp_path))
    if words.startswith("entry"):
        with pytest.raises(RestError, match=words):
            routes._submission(Request("POST", "", {}, body), zipped.name)
        return
    line = routes._submission(Request("POST", "", {}, body), zipped.name).command_line()
    assert line == words.replace("FILE", str(zipped)).split()
    options = parse(line)
    assert options.module == ("word_count" in words or "jobs" in words)
    assert options.arguments == [word for word in ("-p", "3") if word in line] or "x" in line


def test_arguments_of_a_script_are_no_options(tmp_path):
    for submission in (Submission("/a.py", ("-p", "3")), Submission("a.b", ("-p", "3"), {}, True)):
        options = parse(submission.command_line())
        assert (options.arguments, options.configuration) == (["-p", "3"], {})
        assert (options.script, options.module) == (submission.script, submission.module)


PLANNED = """
import sys
from pyflink.datastream import StreamExecutionEnvironment
env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
print("said by the script")
env.from_collection(sys.argv[1:]).map(str.upper).key_by(str).reduce(max).print()
env.execute("planned")
"""


def test_a_plan_without_a_run(tmp_path, records):
    uploads = Uploads(tmp_path)
    router = Router()
    SubmissionRoutes(Drivers(), records, uploads).add_to(router)
    good, bad = (uploads.add(FormPart("j.py", text.encode())) for text in (PLANNED, "1 / 0\n"))
    body = {"programArgsList": ["a", "-p"], "flinkConfiguration": {"pipeline.name": "given"}}
    answer = router.answer(Request("POST", f"/jars/{good.name}/plan", {}, body))
    plan = answer.content["plan"]
    assert (plan["name"], plan["type"]) == ("planned", "STREAMING")
    assert [node["parallelism"] for node in plan["nodes"]] == [1, 2, 2]
    source, mapped, reduced = plan["nodes"]
    assert source["description"] == "Collection Source"
    assert (mapped["inputs"][0]["id"], reduced["inputs"][0]["id"]) == (source["id"], mapped["id"])
    assert reduced["inputs"][0]["ship_strategy"] == "HASH"
    assert records.all() == []
    answer = router.answer(Request("GET", f"/jars/{bad.name}/plan", {}, {}))
    assert answer.status == 400
    assert "There is no plan of j.py:" in answer.content["errors"][0]
    assert "ZeroDivisionError" in answer.content["errors"][0]


@pytest.mark.parametrize(
    "content", [b"", b"--b", b"--b--", b"--b\r\nno head\r\n--b--", b"--b\r\n\r\n\r\nx" * 99]
)
def test_bodies_that_are_no_parts(content):
    with contextlib.suppress(ValueError):
        assert parts_of("multipart/form-data; boundary=b", content) == ()


def test_the_bytes_of_a_file_stay_as_they_are():
    file = bytes(range(256)) + b"\r\n--c\r\n\n\r"
    head = b'--b\r\nContent-Disposition: form-data; name="f"; filename="x.py"\r\n\r\n'
    field = b'--b\r\nContent-Disposition: form-data; name="y"\r\n\r\n1\r\n'
    kind = "multipart/form-data; boundary=b"
    assert parts_of(kind, field + head + file + b"\r\n--b--\r\n") == (FormPart("x.py", file),)


def test_a_prepared_driver_is_taken_where_it_fits(monkeypatch):
    monkeypatch.setenv("JAVA_HOME", "/java")
    shell = dict(os.environ)
    assert Submission("x.py").fits_a_prepared_driver()
    assert Submission("x.py", environment={**shell, "KAFKA": "b"}).fits_a_prepared_driver()
    for other in (
        Submission("x.py", environment={**shell, "JAVA_HOME": "/other"}),
        Submission("x.py", options={"spark.master": "yarn"}),
        Submission("x.py", options={"python.executable": "python3"}),
        Submission("x.py", interpreter="/other/python"),
    ):
        assert not other.fits_a_prepared_driver()


def test_a_prepared_driver_runs_one_script_and_another_follows(home, script, monkeypatch):
    monkeypatch.setattr(module, "PREPARE", "--nothing")
    later = []
    drivers = Drivers(1, later=later.append)
    drivers.prepare()
    (ready,) = drivers._prepared
    submission = Submission(str(script), ("x",), {"a.secret": "hidden"}, title="job.py")
    driver = drivers.launch(submission)
    assert driver is ready
    driver.wait(60)
    assert driver.ended() == 0
    assert '[["x"]' in driver.log.read_text()
    assert driver.log.name.startswith("job-")
    assert drivers._prepared == []
    later.pop()()
    (following,) = drivers._prepared
    drivers.close()
    following.wait(60)
    assert following.ended() == 0


def test_a_list_of_processes_shows_no_argument(home, script):
    drivers = Drivers()
    started = drivers._start([sys.executable], [], None, None)
    line = subprocess.run(
        ["ps", "-ww", "-o", "args=", "-p", str(started.pid)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "-m pyflink_on_spark.tools.serve.driver" in line
    started.dismiss()
    started.wait(60)


def test_a_port_is_shared_with_the_server(home, driver):
    write_server(ServerRecord("http://127.0.0.1:8099", os.getppid(), "token"))
    network = NetworkServer(driver.router)
    network.start({"rest.port": "8099"})
    assert network.url is None
    network.start({"rest.port": "0"})
    assert network.url is not None
    network.close()


def test_tls(home, tmp_path, capsys, monkeypatch):
    pem = tmp_path / "server.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
         "/CN=jobs.example", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", pem, "-out",
         tmp_path / "cert.pem"],
        check=True, capture_output=True,
    )  # fmt: skip
    options = {
        "rest.port": "0",
        "pyflink-on-spark.rest.certificate": str(tmp_path / "cert.pem"),
        "pyflink-on-spark.rest.key": str(pem),
    }
    server = Server(options, prepared=0)
    try:
        assert server.record.url.startswith("https://127.0.0.1:")
        context = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
        connection = http.client.HTTPSConnection(
            "127.0.0.1", int(server.record.url.rpartition(":")[2]), context=context, timeout=20
        )
        connection.request("GET", "/jobs", headers={"Authorization": f"Bearer {lasting_token()}"})
        assert json.loads(connection.getresponse().read()) == {"jobs": []}
        connection.close()
        place = f"localhost:{server.record.port}"
        assert run_command("list", ["-m", place]) == 0
        assert "No running jobs." in capsys.readouterr().out
        monkeypatch.setenv(VARIABLE, str(tmp_path / "of another user"))
        monkeypatch.setenv(TOKEN_VARIABLE, server.record.token)
        assert run_command("list", ["-m", place]) != 0
        assert "begins with https://" in capsys.readouterr().err
        assert run_command("list", ["-m", f"https://127.0.0.1:{server.record.port}"]) != 0
        assert "SSL_CERT_FILE" in capsys.readouterr().err
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
        assert run_command("list", ["-m", f"https://127.0.0.1:{server.record.port}"]) == 0
    finally:
        server.close()


EXAMPLES = Path(__file__).parents[2] / "examples" / "service"


def test_the_recipes_start_a_server():
    compose = parse_yaml((EXAMPLES / "serve_compose.yaml").read_text(encoding="utf-8"))
    service = compose["services"]["jobmanager"]
    pod = (EXAMPLES / "serve_kubernetes.yaml").read_text(encoding="utf-8").split("---\n")
    kinds = {part["kind"]: part for part in map(parse_yaml, pod)}
    (container,) = kinds["Deployment"]["spec"]["template"]["spec"]["containers"]
    for words in (service["command"], container["args"]):
        assert words[0] == "serve"
        options = _parser().parse_args([str(word) for word in words[1:]])
        assert (options.port, options.end_jobs) == ("8081", True)
        assert options.D == ["rest.bind-address=0.0.0.0"]
    variables = {*service["environment"], *(each["name"] for each in container["env"])}
    assert variables == {TOKEN_VARIABLE, VARIABLE}
    assert set(kinds) == {"Deployment", "Service", "PersistentVolumeClaim"}
    labels = kinds["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert kinds["Service"]["spec"]["selector"] == labels
    assert all(str(port).startswith("127.0.0.1:") for port in service["ports"])
