"""Operators of the rows of tables."""
