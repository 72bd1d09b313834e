"""Tables of Kinesis data streams."""
