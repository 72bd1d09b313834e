"""A client for SQL."""
