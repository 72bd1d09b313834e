"""The connector iceberg, and the types of its tables."""
