"""Declared types, and the conversions of their values."""
