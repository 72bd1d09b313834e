"""The format raw."""
