"""A secret is planted in every place that takes one, and searched for in all output."""

from __future__ import annotations

import base64
import json
import logging
import random
import time
from dataclasses import replace

import pytest

from pyflink_on_spark._operate.server.rest.routing import Request
from pyflink_on_spark._operate.view.job_log import JobLog
from pyflink_on_spark._operate.view.jobs import OperatedJob
from pyflink_on_spark._options.registry import OPTIONS
from pyflink_on_spark._options.secrets import masked, masked_text
from pyflink_on_spark.common import JobStatus
from pyflink_on_spark.table import EnvironmentSettings, TableEnvironment
from pyflink_on_spark.tools.operate.commands import run_operation
from tests.operate.operated import Handle
from tests.operate.operated import job as job_of

PLANTED = "pl4nted-s3cret"
KEYS = [
    *(each.key for each in OPTIONS if masked(each.key, PLANTED) != PLANTED),
    "s3.access-key", "s3.secret-key", "fs.azure.account.key.x", "security.ssl.key-password",
    "properties.sasl.jaas.config", "db.password", "my.apikey", "private_key", "MY_TOKEN",
    "aws.credentials.basic.secretkey", "ssl.passphrase", "service-key", "user_pwd", "db.pass",
    "authorization", "session.cookie", "azure.connectionString", "my.account-key",
    "properties.ssl.keystore.key", "ssl.key.pem", "properties.basic.auth.user.info", "pass",
    "fs.azure.sas.container",
]  # fmt: skip
TEXTS = [
    f"jdbc:postgresql://me:{PLANTED}@host/db",
    f"jdbc:mysql://host/db?user=me&password={PLANTED}",
    f'PlainLoginModule required username="me" password="{PLANTED}";',
    f"secret = '{PLANTED}'",
    f"https://me:{PLANTED}@registry:8081/subjects",
    f"https://{PLANTED}{PLANTED}@host/repository",
    f"bad settings: {{'user': 'me', 'password': '{PLANTED}'}}",
    f'{{"token": "{PLANTED}"}}',
    f"Authorization: Bearer {PLANTED}{PLANTED}",
    f"AccountName=me;AccountKey={PLANTED}==;EndpointSuffix=core",
    f"Endpoint=sb://host/;SharedAccessKey={PLANTED}",
    f"https://host/x?sv=1&sig={PLANTED}",
    f"https://host/x?X-Amz-Signature={PLANTED}&x=1",
    f"password='it''s {PLANTED}'",
    f'password="a\\"{PLANTED}"',
    f'password="{PLANTED}',
    f"CREATE USER me PASSWORD '{PLANTED}'",
    f"CREATE USER me IDENTIFIED BY '{PLANTED}'",
    f"password: {PLANTED}",
    f"client --password {PLANTED} --host x",
    f"jdbc:oracle:thin:scott/{PLANTED}@host:1521/x",
    f"https://host/x?user=me&pass={PLANTED}",
    f"{{'password': b'{PLANTED}'}}",
    f"[('user', 'me'), ('sasl.password', '{PLANTED}')]",
    f"password: {PLANTED}, user: me",
    f"privateKey={PLANTED} secretKey={PLANTED} credentials={PLANTED}",
    f"aws_secret_access_key: {PLANTED}",
    f"password := '{PLANTED}', passphrase => '{PLANTED}'",
    f'{{"body": "{{\\"password\\": \\"{PLANTED}\\"}}"}}',
    f"user%3Dme%26password%3D{PLANTED}%26x",
    f"<password>{PLANTED}</password>",
    f"<name>ConnectionPassword</name>\n  <value>{PLANTED}</value>",
    f'    client.set_password("{PLANTED}")',
    f'ALTER USER me IDENTIFIED BY "{PLANTED}"',
    f"-----BEGIN PRIVATE KEY-----\n{PLANTED}\n-----END PRIVATE KEY-----",
    f"token: {PLANTED}1a2b3c4d5e6f",
    f"amqp://me:a/{PLANTED}@host:5672/x",
    f"password=('{PLANTED}',) password[0]={PLANTED} SecretStr('{PLANTED}')",
    f"eyJhbGciOiJIUzI1NiJ9.{PLANTED}.{PLANTED}",
    f"curl -u me:{PLANTED} https://host/x",
    f"curl -sume:1 -ume:{PLANTED} --proxy-user you:{PLANTED} https://host/x",
    f"Command '['curl', '--user', 'me:{PLANTED}', 'https://host']' returned non-zero exit status 6",
    f"mysqldump -P3306 -ume -p{PLANTED} shop",
    f"Command '['/usr/bin/mysql', '-u', 'me', '-p{PLANTED}']' returned non-zero exit status 1",
    f"['client', '--password', '{PLANTED}', '--host', 'x']",
    f"keytool -storepass {PLANTED} -keypass '{PLANTED}'",
    f"client --password='{PLANTED}'",
    f"sshpass -p {PLANTED} ssh me@host; mongosh -u me -p {PLANTED}",
    f"redis-cli -h host -a {PLANTED} PING",
    f"ldapsearch -x -D cn=me -w {PLANTED}",
    f"db:\n  password:\n    {PLANTED}\n  user: me",
    f"passwords:\n  secret: \n  - '{PLANTED}'\r\n",
    f"password: |\r\n    first\r\n    {PLANTED}\r\n",
    f"private_key: >-\n  {PLANTED}\n  {PLANTED}",
    f'{{\n    "password":\n            "{PLANTED}"\n}}',
    f"password =\n            {PLANTED}",
    f"Basic {base64.b64encode(f'me:{PLANTED}'.encode()).decode()}",
    f"xoxb-{PLANTED}-1234 glpat-{PLANTED}1234 sk_live_{PLANTED}1234",
]


@pytest.fixture
def planted(driver, caplog):
    """A job with secrets in its options, parameters, failures and checkpoints."""
    caplog.set_level(logging.DEBUG)
    values = dict.fromkeys(KEYS, PLANTED) | {f"url{n}": text for n, text in enumerate(TEXTS)}
    values.pop("pyflink-on-spark.rest.token", None)
    made = job_of(configuration=values)
    parameters = {f"parameter.{n}.password": PLANTED for n in range(3)} | {"place": TEXTS[0]}
    made = replace(made, settings=replace(made.settings, job_parameters=parameters))
    handle = Handle(made)
    operated = OperatedJob(made, handle)
    made.history.listen(JobLog(operated))
    driver.offer(operated)
    made.history.begins()
    for text in TEXTS:
        made.history.attempt_failed(RuntimeError(f"cannot connect to {text}"), 100)
        handle.enter(JobStatus.RESTARTING)
        with pytest.raises(OSError, match="full"), made.history.checkpoint(1, None, False):
            raise OSError(f"full: {text}")
        handle.error = RuntimeError(f"no savepoint: {text}")
    return handle


def routes(driver, job_id):
    """The answers to all requests that only read."""
    tasks = driver.jobs.get(job_id).tasks
    values = {"job_id": job_id, "task_id": tasks[0].id, "subtask": "0", "attempt": "5",
              "number": "1", "manager": "driver", "name": "driver", "request_id": "r"}  # fmt: skip
    for method, pattern, _ in driver.router._routes:
        if method == "GET" and "." not in pattern.pattern.replace("[^/]+", ""):
            path = pattern.pattern
            for name, value in values.items():
                path = path.replace(f"(?P<{name}>[^/]+)", value)
            yield path, driver.router.answer(Request("GET", path)).content


def text_of(content):
    return content.decode() if isinstance(content, bytes) else json.dumps(content)


def test_no_answer_log_file_or_command_tells_a_secret(planted, driver, home, caplog, capsys):
    job_id = planted.job.settings.job_id
    asked = driver._operations.begin(job_id, lambda: planted.trigger_savepoint("x"))
    driver._operations.wait(10)
    seen = dict(routes(driver, job_id))
    assert len(seen) > 30
    seen["savepoint"] = driver._operations.result(job_id, asked)
    for command in (["list"], ["exceptions", "counter", "-n", "0"], ["checkpoints", "counter"]):
        run_operation(command[0], command[1:])
    planted.enter(JobStatus.FAILED, RuntimeError(TEXTS[1]))
    for command in (["list", "-a"], ["exceptions", "counter"], ["logs", "counter"]):
        run_operation(command[0], command[1:])
    seen["commands"] = "".join(capsys.readouterr())
    seen["log"] = caplog.text
    files = [path for path in home.rglob("*") if path.is_file()]
    assert len(files) >= 2
    seen |= {str(path): path.read_text() for path in files}
    assert "cannot connect to" in text_of(seen[f"/jobs/{job_id}/exceptions"])
    assert [name for name, content in seen.items() if PLANTED in text_of(content)] == []


@pytest.mark.parametrize(
    "piece",
    [
        "a.",
        "password",
        "pwd='",
        "://a:",
        "--token_",
        "a:",
        "('a.password",
        "<password",
        "password('",
        "eyJaaaaaaaa-",
        "jdbc:oracle:a:",
        "-----BEGIN PRIVATE KEY-----",
        "secret:",
        "token:a",
        'password\\\\"',
        "credentials.",
        "curl -u ",
        "mysql -p",
        "password:\n  ",
        "password: |\n ",
        " --user a",
        "basic aaaa",
    ],
)
def test_secrets_are_looked_for_in_a_time_that_grows_with_the_text_only(piece):
    """A record of 100 KB in an error had kept the driver busy for half an hour."""
    text = "://" + piece * (100_000 // len(piece))
    begun = time.process_time()
    masked_text(text)
    assert time.process_time() - begun < 10


def test_a_record_of_10_megabytes_is_looked_through_in_seconds():
    line = "key 17 of a token=x and 'user' : password: y; " * 220_000
    begun = time.process_time()
    hidden = masked_text(line)
    assert time.process_time() - begun < 15
    assert "=x" not in hidden


@pytest.mark.parametrize("seed", range(40))
def test_what_was_masked_stays_as_it_is(seed):
    """Texts of all forms, cut and joined at random."""
    chance = random.Random(seed)
    for _ in range(25):
        parts = [chance.choice(TEXTS) for _ in range(chance.randint(1, 4))]
        if chance.random() < 0.5:
            parts = [part[chance.randrange(len(part)) :] for part in parts]
        text = chance.choice(["", " ", "\n", "\n  ", ", ", "=", ": ", "'"]).join(parts)
        masked_once = masked_text(text)
        assert masked_text(masked_once) == masked_once


def test_letters_that_are_longer_in_lower_case():
    assert masked_text(f"İİ password={PLANTED} İ") == "İİ password=****** İ"


@pytest.mark.parametrize("text", [
    "Encountered unexpected token: SELECT", "columns: 'id', 'password', 'email'",
    "fs.s3a.aws.credentials.provider=org.example.Provider", "token: SELECT_something_longer",
    "password authentication failed for user 'me'",
    "ssh://git@host/x", "http://host:8081/x?mail=me@there",
    "file:///data/pass/x=1", "no key 'password' in the options",
    "docker run -u 1000:1000 image", "Basic authentication is required", "sort -u file",
    "a wrong password:\n  the server has refused it", "secret:\n  name: mine\n  key: a",
    "mysql -P 3306 -u me -p shop", "run -p 4 --url jdbc:mysql://host/x -pyfs a.py",
    "flink run -py job.py", "password:\n  from:\n    file: x", "one-time-password was wrong",
])  # fmt: skip
def test_what_is_no_secret_stays(text):
    assert masked_text(text) == text


def test_statements_that_show_options_hide_secrets():
    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    options = ", ".join(f"'{key}' = '{value}'" for key, value in {
        "connector": "jdbc", "password": PLANTED, "url": f"jdbc:mysql://u:{PLANTED}@host/x",
    }.items())  # fmt: skip
    t_env.execute_sql(f"CREATE TABLE t (a INT) WITH ({options})")
    catalog = f"'type' = 'generic_in_memory', 'default-database' = 'password={PLANTED}'"
    t_env.execute_sql(f"CREATE CATALOG c WITH ({catalog})")
    for statement in (
        "SHOW CREATE TABLE t", "SHOW CREATE CATALOG c", "DESCRIBE CATALOG EXTENDED c",
    ):  # fmt: skip
        with t_env.execute_sql(statement).collect() as rows:
            told = str(list(rows))
        assert "password" in told
        assert PLANTED not in told
