"""SQL's types: what they are, how they combine, and how their values look outside of a query."""
