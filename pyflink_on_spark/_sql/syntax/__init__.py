"""The syntax tree of statements and expressions, with unresolved names."""
