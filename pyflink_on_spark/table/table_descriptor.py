"""Tables, as a program describes them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from pyflink_on_spark._compat.arguments import own_handle
from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._options.option import option_text
from pyflink_on_spark._runtime.java_hashes import in_hash_map
from pyflink_on_spark.common import ConfigOption
from pyflink_on_spark.table._inner import described_of
from pyflink_on_spark.table.schema import Schema

__all__ = ["TableDescriptor", "FormatDescriptor"]


@dataclass(frozen=True)
class _Described:
    options: dict[str, str] = field(default_factory=dict)
    schema: Schema | None = None
    partition_keys: tuple[str, ...] = ()
    comment: str | None = None


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _key(key: str | ConfigOption) -> str:
    return key if isinstance(key, str) else key._option.key


class TableDescriptor:
    """A table of a connector: its options, its columns, its partitions.

    Args:
        j_table_descriptor: use ``for_connector``.

    Example:
        >>> descriptor = TableDescriptor.for_connector("print").build()
    """

    def __init__(self, j_table_descriptor):
        self._described: _Described = own_handle(
            j_table_descriptor, _Described, "TableDescriptor(j_table_descriptor)"
        )

    @staticmethod
    def for_connector(connector: str) -> TableDescriptor.Builder:
        """Return a builder for a table of some connector."""
        return TableDescriptor.Builder(_Described({"connector": connector}))

    def get_schema(self) -> Schema | None:
        """Return the columns, or None if they were not given."""
        return self._described.schema

    def get_options(self) -> dict[str, str]:
        """Return the options."""
        return in_hash_map(self._described.options)

    def get_partition_keys(self) -> list[str]:
        """Return the columns that partitions are made of."""
        return list(self._described.partition_keys)

    def get_comment(self) -> str | None:
        """Return the comment of the table."""
        return self._described.comment

    def __eq__(self, other):
        return isinstance(other, TableDescriptor) and self._described == described_of(other)

    def __hash__(self):
        return hash(tuple(sorted(self._described.options.items())))

    def __str__(self):
        described = self._described
        text = "" if described.schema is None else str(described.schema)
        if described.comment is not None:
            text += f"\nCOMMENT '{described.comment}'"
        if described.partition_keys:
            text += (
                f"\nPARTITIONED BY ({', '.join(f'`{key}`' for key in described.partition_keys)})"
            )
        given = in_hash_map(described.options).items()
        options = [f"  {_quoted(key)} = {_quoted(value)}" for key, value in given]
        return f"{text}\nWITH (\n" + ",\n".join(options) + "\n)"

    class Builder:
        """Collects the properties of a table; ``build`` returns the descriptor.

        Args:
            j_builder: use ``TableDescriptor.for_connector``.
        """

        def __init__(self, j_builder):
            self._described: _Described = own_handle(
                j_builder, _Described, "TableDescriptor.Builder(j_builder)"
            )

        def schema(self, schema: Schema) -> TableDescriptor.Builder:
            """Set the columns."""
            self._described = replace(self._described, schema=schema)
            return self

        def option(self, key: str | ConfigOption, value) -> TableDescriptor.Builder:
            """Set an option."""
            options = {**self._described.options, _key(key): option_text(value)}
            self._described = replace(self._described, options=options)
            return self

        def format(
            self,
            format: str | FormatDescriptor,
            format_option: ConfigOption[str] = None,
        ) -> TableDescriptor.Builder:
            """Set the format.

            Args:
                format: its name, or a descriptor.
                format_option: which option has the name; ``format`` if not given.
            """
            key = "format" if format_option is None else _key(format_option)
            if isinstance(format, str):
                return self.option(key, format)
            identifier = format.get_format()
            self.option(key, identifier)
            prefix = key.removesuffix("format") + identifier
            for name, value in format.get_options().items():
                self.option(f"{prefix}.{name}", value)
            return self

        def partitioned_by(self, *partition_keys: str) -> TableDescriptor.Builder:
            """Set the columns that partitions are made of."""
            self._described = replace(self._described, partition_keys=partition_keys)
            return self

        def comment(self, comment: str) -> TableDescriptor.Builder:
            """Set the comment of the table."""
            self._described = replace(self._described, comment=comment)
            return self

        def build(self) -> TableDescriptor:
            """Return the descriptor."""
            return TableDescriptor(self._described)


class FormatDescriptor:
    """A format with its options.

    Args:
        j_format_descriptor: use ``for_format``.
    """

    def __init__(self, j_format_descriptor):
        self._format, self._options = own_handle(
            j_format_descriptor, tuple, "FormatDescriptor(j_format_descriptor)"
        )

    @staticmethod
    def for_format(format: str) -> FormatDescriptor.Builder:
        """Return a builder for a format."""
        return FormatDescriptor.Builder((format, {}))

    def get_format(self) -> str:
        """Return the format's name."""
        return self._format

    def get_options(self) -> dict[str, str]:
        """Return the options."""
        return in_hash_map(self._options)

    def __str__(self):
        options = [f"{key}={value}" for key, value in in_hash_map(self._options).items()]
        return f"{self._format}[{{{', '.join(options)}}}]"

    def __eq__(self, other):
        return isinstance(other, FormatDescriptor) and str(self) == str(other)

    def __hash__(self):
        return hash(str(self))

    class Builder:
        """Collects the options of a format; ``build`` returns the descriptor.

        Args:
            j_builder: use ``FormatDescriptor.for_format``.
        """

        def __init__(self, j_builder):
            self._format, self._options = own_handle(
                j_builder, tuple, "FormatDescriptor.Builder(j_builder)"
            )

        def option(self, key: str | ConfigOption, value) -> FormatDescriptor.Builder:
            """Set an option."""
            self._options = {**self._options, _key(key): option_text(value)}
            return self

        def build(self) -> FormatDescriptor:
            """Return the descriptor."""
            return FormatDescriptor((self._format, self._options))


__getattr__ = missing_name(__name__)
