"""Formats of files that keep values column by column: ``parquet`` and ``orc``."""
