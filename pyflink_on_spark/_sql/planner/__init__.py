"""A logical plan becomes operators."""
