"""Connectors as tables."""
