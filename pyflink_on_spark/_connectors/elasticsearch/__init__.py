"""Sinks that write documents to Elasticsearch or OpenSearch."""
