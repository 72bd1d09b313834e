"""Which file system a path is on, and what says how it is reached."""

from __future__ import annotations

import importlib.util

import pytest

from pyflink_on_spark._filesystem import file_system
from pyflink_on_spark._filesystem.file_system import Scheme
from pyflink_on_spark._filesystem.local_files import LOCAL
from pyflink_on_spark._filesystem.location import S3Options, locate, storage_options
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import folder
from pyflink_on_spark.common import Encoder
from pyflink_on_spark.datastream.connectors.file_system import FileSink, FileSource, StreamFormat

ARN = "s3://bucket/x"


@pytest.fixture
def installed(monkeypatch):
    """Makes the set of packages that seem to be installed."""
    found = {"fsspec"}
    find_spec = importlib.util.find_spec
    packages = {"fsspec", "s3fs", "gcsfs", "adlfs", "ossfs", "paramiko", "aiohttp", "requests"}

    def find(name, package=None):
        if name in packages:
            return find_spec("json") if name in found else None
        return find_spec(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", find)
    monkeypatch.setattr(file_system, "_is_there", found.__contains__)
    return found


def test_local_paths_are_local():
    for path in ("/a/b", "file:///a/b", "file:/a/b"):
        assert (locate(path).path, locate(path).files) == ("/a/b", LOCAL)


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("memory://a/b/", "memory://a/b"),
        ("memory://a", "memory://a"),
        ("ftp://me:secret@host:2121/x/", "ftp://me@host:2121/x"),
        ("ftp://host/", "ftp://host"),
        ("s3a://bucket/x y/[z]", "s3a://bucket/x y/[z]"),
    ],
)
def test_uris_are_taken_without_their_passwords(uri, path):
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    place = locate(uri)
    assert place.path == path
    assert "secret" not in repr(place)


def test_a_password_may_have_any_character():
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    options = locate("ftp://me:a%40%2Fb@host/x").files.options
    assert (options["username"], options["password"], options["host"]) == ("me", "a@/b", "host")


@pytest.mark.parametrize(
    ("uri", "there", "missing"),
    [
        (ARN, set(), "scheme 's3': pip install 'pyflink_on_spark[filesystems]'"),
        ("oss://b/x", set(), "scheme 'oss': pip install 'pyflink_on_spark[filesystems]' ossfs"),
        ("oss://b/x", {"fsspec"}, "scheme 'oss': pip install ossfs"),
        ("sftp://h/x", {"fsspec"}, "scheme 'sftp': pip install paramiko"),
        ("https://h/x", {"fsspec"}, "scheme 'https': pip install aiohttp"),
        ("webhdfs://h/x", {"fsspec"}, "scheme 'webhdfs': pip install requests"),
    ],
)
def test_what_has_to_be_installed_is_said_at_once(installed, uri, there, missing):
    installed.clear()
    installed |= there
    text = f"Could not find a file system implementation for {missing}"
    lines, encoder = StreamFormat.text_line_format(), Encoder.simple_string_encoder()
    for use in (
        lambda: FileSource.for_record_stream_format(lines, uri),
        lambda: FileSink.for_row_format(uri, encoder),
        lambda: folder(uri),
    ):
        with pytest.raises(ModuleNotFoundError) as caught:
            use()
        assert str(caught.value) == text


def test_schemes_that_are_none():
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    for uri in ("nowhere://x", "zip://x.zip", "simplecache://x", "dir://x"):
        with pytest.raises(ValueError, match="implementation for scheme"):
            locate(uri)


def test_keys_in_a_uri_are_refused_and_not_told(installed):
    with pytest.raises(
        ValueError, match=r"keys do not belong in a URI \(s3://\.\.\.@bucket\)"
    ) as e:
        locate("s3://me:secret@bucket/x")
    assert "secret" not in str(e.value)


def test_what_can_only_be_read():
    pytest.importorskip("aiohttp", reason="aiohttp is not installed")
    with pytest.raises(ValueError, match="cannot be written there, only read: http://h/x"):
        FileSink.for_row_format("http://h/x", Encoder.simple_string_encoder()).build()
    with pytest.raises(ValueError, match="it can only be read"):
        folder("http://h/x")


@pytest.mark.parametrize(
    ("configuration", "s3fs", "arrow"),
    [
        ({}, {}, {}),
        (
            {"s3.access-key": "k", "s3.secret-key": "s", "s3.path.style.access": "true"},
            {
                "key": "k",
                "secret": "s",
                "config_kwargs": {"s3": {"addressing_style": "path"}},
            },
            {"access_key": "k", "secret_key": "s"},
        ),
        (
            {"fs.s3a.access.key": "k", "fs.s3a.secret.key": "s", "fs.s3a.session.token": "t"},
            {"key": "k", "secret": "s", "token": "t"},
            {"access_key": "k", "secret_key": "s", "session_token": "t"},
        ),
        (
            {"s3.endpoint": "host:9000", "fs.s3a.connection.ssl.enabled": "false"},
            {"endpoint_url": "http://host:9000"},
            {"endpoint_override": "http://host:9000"},
        ),
        (
            {"s3.endpoint": "host", "s3a.endpoint": "other", "s3.endpoint.region": "r"},
            {"endpoint_url": "https://host", "client_kwargs": {"region_name": "r"}},
            {"endpoint_override": "https://host", "region": "r"},
        ),
    ],
)
def test_what_a_configuration_says_of_s3(monkeypatch, configuration, s3fs, arrow):
    for variable in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"):
        monkeypatch.delenv(variable, raising=False)
    options = S3Options.of(configuration)
    assert options.for_fsspec() == s3fs
    assert options.for_arrow() == arrow
    assert "'s'" not in repr(options)


def test_half_of_a_key_is_refused():
    with pytest.raises(ValueError, match=r"both s3\.access-key and s3\.secret-key"):
        S3Options.of({"s3.access-key": "k"})


def test_what_a_configuration_says_of_other_stores():
    key = {"fs.azure.account.key.acc.dfs.core.windows.net": "k"}
    authority = "box@acc.dfs.core.windows.net"
    assert storage_options("abfs", authority, key, arrow=False) == {
        "account_name": "acc",
        "account_key": "k",
    }
    assert storage_options("abfs", "box@other.dfs.core.windows.net", key, arrow=False) == {}
    oss = {"fs.oss.endpoint": "e", "fs.oss.accessKeyId": "k", "fs.oss.accessKeySecret": "s"}
    assert storage_options("oss", "b", oss, arrow=False) == {
        "endpoint": "e",
        "key": "k",
        "secret": "s",
    }


def test_what_pyarrow_is_told_of_azure():
    authority, key = "box@acc.dfs.core.windows.net", "fs.azure.account.key.acc"
    told = {f"{key}.blob.core.windows.net": "k"}
    options = {"account_name": "acc", "account_key": "k"}
    assert storage_options("abfs", authority, told, arrow=True) == options
    assert storage_options("abfs", authority, {}, arrow=True) == {"account_name": "acc"}
    told = {f"{key}.dfs.core.chinacloudapi.cn": "k"}
    authority = "box@acc.blob.core.chinacloudapi.cn"
    assert storage_options("abfs", authority, told, arrow=True) == {"account_name": "acc"} | {
        f"{kind}_storage_authority": f".{kind}.core.chinacloudapi.cn" for kind in ("dfs", "blob")
    }
    told = {f"{key}.blob.core.chinacloudapi.cn": "k"}
    assert storage_options("abfs", authority, told, arrow=False) == options
    for authority in ("box", "acc.dfs.core.windows.net", "box@acc"):
        with pytest.raises(ValueError, match=rf"<container>@<account>.*, not abfs://{authority}$"):
            storage_options("abfs", authority, {}, arrow=True)


def test_pip_may_have_fallen_back_on_a_package_of_another_time(monkeypatch):
    monkeypatch.setattr(file_system.metadata, "version", lambda package: "0.4.2")
    assert file_system.uses_arrow(Scheme("s3", "s3fs", "s3fs", by_arrow=True))
    monkeypatch.setattr(file_system.metadata, "version", lambda package: "2025.3.0")
    assert not file_system.uses_arrow(Scheme("s3", "s3fs", "s3fs", by_arrow=True))
