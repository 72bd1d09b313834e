"""The logical plan: its nodes, and typed expressions."""
