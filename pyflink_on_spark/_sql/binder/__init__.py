"""Resolves names: syntax becomes a logical plan of typed expressions."""
