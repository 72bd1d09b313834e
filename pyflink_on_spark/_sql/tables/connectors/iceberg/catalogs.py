"""The options of Iceberg's catalogs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._connectors.iceberg.client import IcebergCatalogConfig, IcebergCatalogKind
from pyflink_on_spark._sql.errors import ValidationError, did_you_mean
from pyflink_on_spark._sql.plan.options import Option, boolean, integer, text

CATALOG_TYPE = Option("catalog-type", text)
CATALOG_CLASS = Option("catalog-impl", text)
WAREHOUSE = Option("warehouse", text)
URI = Option("uri", text)
USER, PASSWORD = Option("jdbc.user", text), Option("jdbc.password", text)
_WITHOUT_EFFECT: tuple[Option[Any], ...] = (
    Option("property-version", integer),
    Option("clients", integer),
    Option("cache-enabled", boolean),
    Option("cache.expiration-interval-ms", integer),
    Option("io-impl", text),
)
_OWN: tuple[Option[Any], ...] = (CATALOG_TYPE, CATALOG_CLASS, WAREHOUSE, URI, USER, PASSWORD)
CATALOG_OPTIONS: tuple[Option[Any], ...] = (*_OWN, *_WITHOUT_EFFECT)
"""Those that have a fixed key."""

_TO_PYICEBERG = ("token", "credential", "scope", "prefix", "oauth2-server-uri")
_PREFIXES = ("s3.", "gcs.", "adls.", "client.", "rest.", "header.", "hdfs.")
_CLASSES = {
    "org.apache.iceberg.hadoop.HadoopCatalog": "hadoop",
    "org.apache.iceberg.jdbc.JdbcCatalog": "jdbc",
    "org.apache.iceberg.rest.RESTCatalog": "rest",
    "org.apache.iceberg.hive.HiveCatalog": "hive",
}
_DIALECTS = {
    "jdbc:sqlite:": "sqlite:///",
    "jdbc:postgresql://": "postgresql+psycopg://",
    "jdbc:mysql://": "mysql+pymysql://",
    "jdbc:mariadb://": "mysql+pymysql://",
}


def is_catalog_option(key: str) -> bool:
    """True for an option of a catalog."""
    fixed = any(option.key == key for option in CATALOG_OPTIONS)
    return fixed or key in _TO_PYICEBERG or key.startswith(_PREFIXES)


def catalog_config(name: str, options: Mapping[str, str]) -> IcebergCatalogConfig:
    """Return the settings of a catalog.

    Args:
        name: its name.
        options: those of ``WITH`` that are the catalog's.

    Raises:
        ValidationError: one is unknown, wrong or missing.
        UnsupportedFlinkFeature: pyiceberg has no such catalog, or cannot reach it as Flink does.
    """
    unknown = next((key for key in sorted(options) if not is_catalog_option(key)), None)
    if unknown is not None:
        similar = did_you_mean(unknown, [option.key for option in CATALOG_OPTIONS])
        raise ValidationError(
            f"Unsupported option of an Iceberg catalog: '{unknown}'{similar or '.'}"
        )
    kind = _kind(options)
    properties = {
        key: value
        for key, value in options.items()
        if key in _TO_PYICEBERG or key.startswith(_PREFIXES)
    }
    if kind is not IcebergCatalogKind.SERVER or WAREHOUSE.key in options:
        properties["warehouse"] = _required(options, WAREHOUSE)
    if kind is not IcebergCatalogKind.SERVER and ":" not in properties["warehouse"]:
        properties["warehouse"] = os.path.abspath(properties["warehouse"])
    if kind is IcebergCatalogKind.SERVER:
        properties["uri"] = _required(options, URI)
    if kind is IcebergCatalogKind.DATABASE:
        properties["uri"] = _database_url(_required(options, URI), options)
    return IcebergCatalogConfig(name, kind, properties)


def _kind(options: Mapping[str, str]) -> IcebergCatalogKind:
    given = options.get(CATALOG_TYPE.key)
    made = options.get(CATALOG_CLASS.key)
    if given is not None and made is not None:
        raise ValidationError(
            "An Iceberg catalog has 'catalog-type' or 'catalog-impl', and not both: "
            f"catalog-type={given}, catalog-impl={made}."
        )
    if made is not None:
        given = _CLASSES.get(made, made)
    # Flink takes Hive if nothing is said.
    word = (given or "hive").lower()
    known = {kind.value: kind for kind in IcebergCatalogKind}
    if word not in known:
        shown = f"'catalog-impl' = '{made}'" if made else f"'catalog-type' = '{word}'"
        raise_unsupported(
            f"an Iceberg catalog with {shown}",
            kind=Gap.NOT_YET,
            reason="it is Flink's default, and this package asks no Hive Metastore"
            if given is None
            else "this package does not reach such a catalog",
            instead=f"Use 'catalog-type' = {' or '.join(repr(each) for each in known)}. Or give "
            "Spark the catalog (--conf spark.sql.catalog.NAME=...), and use from_spark, to_spark.",
        )
    return known[word]


def _required(options: Mapping[str, str], option: Option[str]) -> str:
    value = options.get(option.key)
    if not value:
        raise ValidationError(
            "One or more required options are missing.\n\n"
            f"Missing required options are:\n\n{option.key}"
        )
    return value


def _database_url(uri: str, options: Mapping[str, str]) -> str:
    """Return the URL of SQLAlchemy for one of JDBC."""
    if not uri.startswith("jdbc:"):
        return uri
    beginning = next((each for each in _DIALECTS if uri.startswith(each)), None)
    if beginning is None:
        raise ValidationError(
            f"Invalid value for option 'uri': it begins with {', '.join(_DIALECTS)}."
        )
    rest = uri.removeprefix(beginning)
    user, password = options.get(USER.key), options.get(PASSWORD.key)
    if beginning == "jdbc:sqlite:":
        return f"{_DIALECTS[beginning]}{os.path.abspath(rest.removeprefix('file:'))}"
    login = "" if user is None else quote(user, safe="")
    if password is not None:
        login += f":{quote(password, safe='')}"
    return f"{_DIALECTS[beginning]}{login}{'@' if login else ''}{rest}"
