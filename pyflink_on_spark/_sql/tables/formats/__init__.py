"""Formats of messages and files: how rows are read of bytes, and written."""
