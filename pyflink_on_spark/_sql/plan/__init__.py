"""What a query means: typed expressions, and the nodes of the logical plan."""
