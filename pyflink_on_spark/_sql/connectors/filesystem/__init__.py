"""The table of files."""
