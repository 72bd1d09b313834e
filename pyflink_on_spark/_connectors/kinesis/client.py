"""Clients of AWS, made from Flink's properties."""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._compat.errors import PyFlinkOnSparkError
from pyflink_on_spark._compat.optional_package import optional_package
from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported

if TYPE_CHECKING:
    from types import ModuleType


PROVIDER = "aws.credentials.provider"
_KEYS = {
    "AUTO": (),
    "BASIC": ("basic.accesskeyid", "basic.secretkey"),
    "ENV_VAR": (),
    "PROFILE": ("profile.name", "profile.path"),
    "ASSUME_ROLE": ("role.arn", "role.sessionName", "role.externalId", "role.stsEndpoint"),
}
_VARIABLES = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")


@dataclass(frozen=True)
class Credentials:
    """The credentials, or the way to get them.

    Args:
        properties: of Flink's client.
        prefix: the prefix of the properties. The properties of the user that assumes a role have a
            longer prefix.
    """

    properties: Mapping[str, str] = field(repr=False)
    prefix: str = PROVIDER

    @property
    def kind(self) -> str:
        """The kind of the credentials provider.

        Raises:
            UnsupportedFlinkFeature: the kind is unknown.
        """
        basic = f"{self.prefix}.basic.accesskeyid" in self.properties
        kind = self.properties.get(self.prefix, "BASIC" if basic else "AUTO").upper()
        if kind not in _KEYS:
            raise_unsupported(
                f"{self.prefix} = {kind}",
                kind=Gap.NOT_YET,
                reason="there is no such credentials provider here",
                instead=f"Use one of {', '.join(_KEYS)}.",
            )
        return kind

    @property
    def keys(self) -> set[str]:
        """The properties that have an effect."""
        kind = self.kind
        found = {self.prefix, *(f"{self.prefix}.{key}" for key in _KEYS[kind])}
        return found | self._assuming.keys if kind == "ASSUME_ROLE" else found

    def session(self, region: str) -> Any:
        """Return a session of boto3's, which refreshes the credentials when they expire.

        Raises:
            ValueError: a part of the credentials is missing.
        """
        kind = self.kind
        if kind == "BASIC":
            return _session(
                region, self._needed("basic.accesskeyid"), self._needed("basic.secretkey")
            )
        if kind == "ENV_VAR":
            key, secret = map(_variable, _VARIABLES)
            return _session(region, key, secret, os.environ.get("AWS_SESSION_TOKEN"))
        if kind == "PROFILE":
            return self._with_profile(region)
        return self._with_role(region) if kind == "ASSUME_ROLE" else _session(region)

    @property
    def _assuming(self) -> Credentials:
        """The credentials of the user that assumes the role."""
        return Credentials(self.properties, f"{self.prefix}.role.provider")

    def _with_profile(self, region: str) -> object:
        name = self._get("profile.name") or os.environ.get("AWS_PROFILE", "default")
        core = _module("botocore.session").Session(profile=name)
        path = self._get("profile.path")
        if path is not None:
            if not os.path.isfile(path):
                raise ValueError(f"{self.prefix}.profile.path: there is no file {path}")
            core.set_config_variable("credentials_file", path)
        return _module("boto3.session").Session(botocore_session=core, region_name=region)

    def _with_role(self, region: str) -> object:
        role = self._needed("role.arn")
        session = self._assuming.session(region)
        found = session.get_credentials()
        if found is None:
            raise ValueError(f"there are no credentials to assume the role {role} with")
        extra = {
            "RoleSessionName": self._get("role.sessionName") or "pyflink-on-spark",
            "ExternalId": self._get("role.externalId"),
        }
        module = _module("botocore.credentials")
        fetcher = module.AssumeRoleCredentialFetcher(
            partial(session.client, region_name=region, endpoint_url=self._get("role.stsEndpoint")),
            found,
            role,
            extra_args={name: value for name, value in extra.items() if value is not None},
        )
        credentials = module.DeferredRefreshableCredentials(
            method=_Given.METHOD, refresh_using=fetcher.fetch_credentials
        )
        core = _module("botocore.session").Session()
        core.get_component("credential_provider").insert_before("env", _Given(credentials))
        return _module("boto3.session").Session(botocore_session=core, region_name=region)

    def _get(self, key: str) -> str | None:
        return self.properties.get(f"{self.prefix}.{key}")

    def _needed(self, key: str) -> str:
        value = self._get(key)
        if not value:
            raise ValueError(f"the property {self.prefix}.{key} is not set")
        return value


class _Given:
    """A credentials provider of botocore's that has precedence over all others.

    Args:
        credentials: the credentials to provide.
    """

    METHOD = "role-of-properties"
    CANONICAL_NAME = None

    def __init__(self, credentials: object) -> None:
        self._credentials = credentials

    def load(self) -> object:
        """Return the credentials."""
        return self._credentials


def _variable(name: str) -> str:
    value = os.environ.get(name)
    if not value:
        raise ValueError(f"the environment variable {name} is not set")
    return value


def _session(
    region: str, key: str | None = None, secret: str | None = None, token: str | None = None
) -> object:
    return _module("boto3.session").Session(
        aws_access_key_id=key,
        aws_secret_access_key=secret,
        aws_session_token=token,
        region_name=region,
    )


def _module(name: str) -> ModuleType:
    return optional_package(name, "boto3", "Kinesis's connectors", "kinesis")


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
