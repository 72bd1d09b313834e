"""The options that sources and sinks share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from pyflink_on_spark.datastream.connectors._arguments import argument, require


class ClientOptions:
    """What the builders of sources and sinks are both told."""

    def __init__(self) -> None:
        self._options: dict[str, Any] = {}

    def set_admin_url(self, admin_url: str) -> Self:
        """Set where the administration is found: ``http://host:port``."""
        return self._set_text("pulsar.admin.adminUrl", admin_url)

    def set_service_url(self, service_url: str) -> Self:
        """Set where the brokers are found: ``pulsar://host:port``."""
        return self._set_text("pulsar.client.serviceUrl", service_url)

    def set_authentication(
        self, auth_plugin_class_name: str, auth_params_string: str | dict[str, str]
    ) -> Self:
        """Set who connects.

        Args:
            auth_plugin_class_name: the Java class of the kind of authentication.
            auth_params_string: what it has to know.
        """
        self._set_text("pulsar.client.authPluginClassName", auth_plugin_class_name)
        if isinstance(auth_params_string, str):
            return self._set("pulsar.client.authParams", auth_params_string)
        call = "set_authentication(auth_plugin_class_name, auth_params_string)"
        parameters = dict(argument(auth_params_string, Mapping, call))  # type: ignore[type-abstract]
        return self._set("pulsar.client.authParamMap", parameters)

    def set_properties(self, config: dict) -> Self:
        """Set options by their names."""
        for key, value in argument(config, dict, "set_properties(config)").items():
            self._set(argument(key, str, "set_properties(config)"), value)
        return self

    def _set_text(self, key: str, value: Any) -> Self:
        return self._set(key, argument(value, str, f"the option {key}"))

    def _set(self, key: str, value: Any) -> Self:
        """Set an option; one that is set cannot be changed."""
        known = self._options.setdefault(key, value)
        require(known == value, f"The option {key} is set already, to another value.")
        return self

    def _require(self, key: str) -> None:
        require(key in self._options, f"The option {key} is required but not set.")
