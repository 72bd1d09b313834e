"""Functions that the user has written in Python."""
