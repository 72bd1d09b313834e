"""Typed expressions become the source of Python functions."""
