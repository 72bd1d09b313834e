"""Kinesis data streams and Firehose, over boto3."""
