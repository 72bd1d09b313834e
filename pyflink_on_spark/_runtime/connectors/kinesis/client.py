"""Clients of AWS, made of Flink's properties."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from pyflink_on_spark._compat.errors import PyFlinkOnSparkError
from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._runtime.optional_package import optional_package

_log = logging.getLogger(__name__)
_botocore_log = logging.getLogger("botocore")
_PROVIDER = "aws.credentials.provider"
_ROLE = f"{_PROVIDER}.role"
_KINDS = ("AUTO", "BASIC", "ENV_VAR", "PROFILE", "ASSUME_ROLE")
_DEFAULT_REGION = "us-east-1"
_USED = (
    "aws.region",
    "aws.endpoint",
    "aws.trust.all.certificates",
    _PROVIDER,
    "flink.stream.",
    "flink.shard.getrecords.maxrecordcount",
    "flink.shard.getrecords.intervalmillis",
    "flink.shard.discovery.intervalmillis",
)


class KinesisError(PyFlinkOnSparkError, RuntimeError):
    """AWS cannot be reached, or refuses something; the text has its own words."""


def boto3() -> Any:
    """Return the module boto3; raises ModuleNotFoundError that says what to install."""
    module = optional_package("boto3", "boto3", "Kinesis's connectors", "kinesis")
    if _botocore_log.level == logging.NOTSET:
        # At DEBUG it logs requests and answers whole, with the keys and tokens of a role.
        _botocore_log.setLevel(logging.INFO)
    return module


def errors() -> tuple[type[Exception], ...]:
    """Return what boto3 raises."""
    exceptions = optional_package("botocore.exceptions", "boto3", "Kinesis's connectors", "kinesis")
    return exceptions.BotoCoreError, exceptions.ClientError


def code_of(error: Exception) -> str:
    """Return AWS's name of an error, or an empty text."""
    return str(getattr(error, "response", {}).get("Error", {}).get("Code", ""))


def note_unused(properties: Mapping[str, str]) -> None:
    """Log the names of properties that have no effect here; boto3 has its own retries."""
    for key in sorted(properties):
        if not key.startswith(_USED):
            _log.warning("the property %s has no effect: boto3 does it its own way", key)


def make_client(service: str, properties: Mapping[str, str]) -> Any:
    """Return a client.

    Args:
        service: ``kinesis`` or ``firehose``.
        properties: Flink's: ``aws.region``, ``aws.endpoint``, ``aws.credentials.provider``...

    Raises:
        ValueError: credentials are missing, or the way to get them is not known.
    """
    region = properties.get("aws.region", _DEFAULT_REGION)
    session = _session(properties, region)
    return session.client(
        service,
        endpoint_url=properties.get("aws.endpoint"),
        verify=False if properties.get("aws.trust.all.certificates") == "true" else None,
    )


def _session(properties: Mapping[str, str], region: str) -> Any:
    basic = f"{_PROVIDER}.basic.accesskeyid" in properties
    kind = properties.get(_PROVIDER, "BASIC" if basic else "AUTO").upper()
    if kind not in _KINDS:
        raise_unsupported(
            f"{_PROVIDER} = {kind}",
            kind=Gap.NOT_YET,
            reason="there is no such way to get credentials here",
            instead=f"Use one of {', '.join(_KINDS)}.",
        )
    if kind == "ASSUME_ROLE":
        return _assumed(properties, region)
    found: dict[str, str] = {}
    if kind == "BASIC":
        found["aws_access_key_id"] = _needed(properties, f"{_PROVIDER}.basic.accesskeyid")
        found["aws_secret_access_key"] = _needed(properties, f"{_PROVIDER}.basic.secretkey")
    elif kind == "PROFILE":
        found["profile_name"] = properties.get(f"{_PROVIDER}.profile.name", "default")
    return boto3().session.Session(region_name=region, **found)


def _assumed(properties: Mapping[str, str], region: str) -> Any:
    request = {
        "RoleArn": _needed(properties, f"{_ROLE}.arn"),
        "RoleSessionName": properties.get(f"{_ROLE}.sessionName", "pyflink-on-spark"),
    }
    if f"{_ROLE}.externalId" in properties:
        request["ExternalId"] = properties[f"{_ROLE}.externalId"]
    make = boto3().session.Session
    endpoint = properties.get(f"{_ROLE}.stsEndpoint")
    found = make(region_name=region).client("sts", endpoint_url=endpoint).assume_role(**request)
    credentials = found["Credentials"]
    return make(
        aws_access_key_id=credentials["AccessKeyId"],
        aws_secret_access_key=credentials["SecretAccessKey"],
        aws_session_token=credentials["SessionToken"],
        region_name=region,
    )


def _needed(properties: Mapping[str, str], key: str) -> str:
    if not properties.get(key):
        raise ValueError(f"the property {key} is not set")
    return properties[key]
