"""Iceberg tables as sources and sinks, with pyiceberg."""
