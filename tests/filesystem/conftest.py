"""Fixtures for the tests of file systems: servers, and folders on each of them."""

from __future__ import annotations

import itertools

import pytest

from pyflink_on_spark._filesystem import file_system
from tests.connectors.kinesis.moto_server import REGION, moto
from tests.filesystem.ftp_server import ftp_server
from tests.filesystem.place import Place
from tests.filesystem.sftp_server import sftp_server

_NUMBERS = itertools.count()
BUCKET = "bucket"


@pytest.fixture(scope="package")
def ftp():
    with ftp_server() as uri:
        yield uri


@pytest.fixture(scope="package")
def sftp():
    with sftp_server() as uri:
        yield uri


@pytest.fixture(scope="package")
def aws():
    with moto() as running:
        running.client("s3").create_bucket(
            Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION}
        )
        yield running


@pytest.fixture(params=["memory", "ftp", "sftp", "s3", "s3fs"])
def place(request, monkeypatch):
    """An empty folder on a file system: S3 by pyarrow, and by s3fs."""
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    name, number = request.param, next(_NUMBERS)
    if name == "memory":
        return Place(f"memory://folder{number}")
    if name in {"ftp", "sftp"}:
        return Place(f"{request.getfixturevalue(name)}/folder{number}")
    if name == "s3":
        monkeypatch.setattr(file_system, "_is_there", lambda package: False)
    elif not file_system._is_there("s3fs"):
        pytest.skip("s3fs, of the last years, is not installed")
    aws = request.getfixturevalue("aws")
    for variable, value in {
        "AWS_ACCESS_KEY_ID": "me",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_ENDPOINT_URL": aws.endpoint,
        "AWS_DEFAULT_REGION": REGION,
    }.items():
        monkeypatch.setenv(variable, value)
    return Place(f"s3://{BUCKET}/folder{number}", aws)
