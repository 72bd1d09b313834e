"""Measures whole jobs between connectors against the client libraries alone."""
