"""The format ``avro``."""
