"""Clients of AWS, made from Flink's properties."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from typing import Any

from pyflink_on_spark._compat.errors import PyFlinkOnSparkError
from pyflink_on_spark._compat.optional_package import optional_package
from pyflink_on_spark._connectors.kinesis.credentials import Credentials

_log = logging.getLogger(__name__)
_botocore_log = logging.getLogger("botocore")
_DEFAULT_REGION = "us-east-1"
_OF_THE_CLIENT = {"aws.region", "aws.endpoint", "aws.trust.all.certificates"}
PATIENCE = 10.0
"""How long AWS may throttle a client before a line is logged, in s."""


class KinesisError(PyFlinkOnSparkError, RuntimeError):
    """AWS cannot be reached, or rejects a request. The message contains AWS's own text."""


def errors() -> tuple[type[Exception], ...]:
    """Return the errors that boto3 raises."""
    exceptions = optional_package("botocore.exceptions", "boto3", "Kinesis's connectors", "kinesis")
    return exceptions.BotoCoreError, exceptions.ClientError


def code_of(error: BaseException | None) -> str:
    """Return AWS's code of an error, or an empty string."""
    return str(getattr(error, "response", {}).get("Error", {}).get("Code", ""))


def note_unused(properties: Mapping[str, str], others: Collection[str] = ()) -> None:
    """Log the names of properties that have no effect here; boto3 has its own retries.

    Args:
        properties: of Flink's client.
        others: properties that have an effect, beside those of the client.
    """
    for key in sorted(properties.keys() - _OF_THE_CLIENT - Credentials(properties).keys):
        if key not in others:
            _log.warning("the property %s has no effect: boto3 does it its own way", key)


def make_client(service: str, properties: Mapping[str, str]) -> Any:
    """Return a client of boto3's.

    Args:
        service: ``kinesis`` or ``firehose``.
        properties: of Flink's client: ``aws.region``, ``aws.endpoint``,
            ``aws.credentials.provider``...

    Raises:
        KinesisError: boto3 rejects the settings; for example, there is no such profile.
        UnsupportedFlinkFeature: the credentials provider is unknown.
        ValueError: credentials are missing.
    """
    if _botocore_log.level == logging.NOTSET:
        # At DEBUG botocore logs whole requests and answers, with the keys and tokens of a role.
        _botocore_log.setLevel(logging.INFO)
    try:
        session = Credentials(properties).session(properties.get("aws.region", _DEFAULT_REGION))
        return session.client(
            service,
            endpoint_url=properties.get("aws.endpoint"),
            verify=False if properties.get("aws.trust.all.certificates") == "true" else None,
        )
    except errors() as error:
        raise KinesisError(f"AWS, {service}: {error}") from error
