"""Gives names their meaning: what was written becomes a logical plan of typed expressions."""
