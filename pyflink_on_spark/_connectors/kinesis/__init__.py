"""Kinesis data streams and Firehose as sources and sinks, with boto3."""
