"""Which values people see, and which they do not."""

from __future__ import annotations

import pytest

from pyflink_on_spark._options.secrets import HIDDEN, all_masked, masked, masked_text

PLANTED = "pl4nted"


@pytest.mark.parametrize(
    "key",
    [
        "password",
        "db.password",
        "s3.secret-key",
        "s3.access-key",
        "aws.credentials.basic.secretkey",
        "private-key",
        "ssl.key.passphrase",
        "properties.sasl.jaas.config",
        "pyflink-on-spark.rest.token",
        "MY_PWD",
        "apiKey",
    ],
)
def test_a_secret_by_its_key(key):
    assert masked(key, PLANTED) == HIDDEN


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"jdbc:mysql://me:{PLANTED}@host:3306/db", f"jdbc:mysql://{HIDDEN}@host:3306/db"),
        (f"amqp://me:{PLANTED}@a/b@c/v", f"amqp://{HIDDEN}@a/b@c/v"),
        (f"jdbc:postgresql://h/db?user=me&password={PLANTED}&ssl=true",
         f"jdbc:postgresql://h/db?user=me&password={HIDDEN}&ssl=true"),
        (f'Plain required username="me" password="{PLANTED} x";',
         f'Plain required username="me" password={HIDDEN};'),
        (f"db_password = '{PLANTED}'", f"db_password = {HIDDEN}"),
        ("s3://bucket/path@1", "s3://bucket/path@1"),
        ("http://host:8081/a@b", "http://host:8081/a@b"),
        ("a plain text, tokens=3", "a plain text, tokens=3"),
    ],
)  # fmt: skip
def test_secrets_in_a_text(text, shown):
    assert masked_text(text) == shown


def test_what_is_no_secret_is_seen():
    options = {"aws.credentials.provider": "BASIC", "parallelism.default": "2", "url": "file:///x"}
    assert all_masked(options) == options
