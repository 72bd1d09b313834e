"""Failures of user functions, and what these functions log."""
