"""The methods of expressions, and how these become syntax."""
