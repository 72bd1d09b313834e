"""The options of Hadoop's Parquet writer that have a counterpart in Arrow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported

_CODECS = ("uncompressed", "snappy", "gzip", "lz4", "lz4_raw", "brotli", "zstd")
_FILE_SYSTEMS = ("fs.", "dfs.", "hadoop.", "io.")


@dataclass(frozen=True)
class ParquetOptions:
    """The options of a Parquet writer.

    Attributes:
        compression: the codec, or ``none``.
        row_group_bytes: the approximate size of a row group in memory.
        page_bytes: the approximate size of a page; None for Arrow's default.
        dictionary: whether columns are dictionary-encoded.
        version: the version of the format.
        int96_timestamps: whether timestamps have 96 bits, as in Flink's files of rows.
        timestamp_unit: the unit of timestamps of 64 bits; None for that of the column.
    """

    compression: str = "snappy"
    row_group_bytes: int = 128 * 1024 * 1024
    page_bytes: int | None = None
    dictionary: bool = True
    version: str = "1.0"
    int96_timestamps: bool = True
    timestamp_unit: str | None = None

    @classmethod
    def of(cls, hadoop: dict[str, str]) -> ParquetOptions:
        """Return the options that correspond to Hadoop's.

        Raises:
            ValueError: an option has an invalid value.
            UnsupportedFlinkFeature: an option has no counterpart.
        """
        given: dict[str, Any] = {}
        for name, text in hadoop.items():
            if name == "parquet.compression":
                given["compression"] = _codec(text)
            elif name == "parquet.block.size":
                given["row_group_bytes"] = int(text)
            elif name == "parquet.page.size":
                given["page_bytes"] = int(text)
            elif name == "parquet.enable.dictionary":
                given["dictionary"] = text.strip().lower() == "true"
            elif name == "parquet.writer.version":
                given["version"] = {"v1": "1.0", "v2": "2.6"}[_version(text)]
            else:
                refuse_option(name, "Parquet's writer")
        return cls(**given)

    def writer_arguments(self) -> dict[str, Any]:
        """Return the arguments of Arrow's writer."""
        return {
            "compression": self.compression,
            "use_dictionary": self.dictionary,
            "data_page_size": self.page_bytes,
            "version": self.version,
            "use_deprecated_int96_timestamps": self.int96_timestamps,
            "coerce_timestamps": None if self.timestamp_unit == "ns" else self.timestamp_unit,
            "allow_truncated_timestamps": True,
            "store_schema": False,
        }


def refuse_option(name: str, reader: str) -> None:
    """Raise UnsupportedFlinkFeature for an option without a counterpart."""
    raise_unsupported(
        f"the option {name!r} of {reader}",
        kind=Gap.NEVER if name.startswith(_FILE_SYSTEMS) else Gap.NOT_YET,
        reason="Arrow reads and writes the file, not Hadoop",
        instead="Leave it out.",
    )


def _codec(text: str) -> str:
    name = text.strip().lower()
    if name not in _CODECS:
        raise ValueError(f"parquet.compression is one of {', '.join(_CODECS)}, not {text!r}")
    return "none" if name == "uncompressed" else name


def _version(text: str) -> str:
    short = {"parquet_1_0": "v1", "parquet_2_0": "v2"}.get(text.lower(), text.lower())
    if short not in ("v1", "v2"):
        raise ValueError(f"parquet.writer.version is v1 or v2, not {text!r}")
    return short
