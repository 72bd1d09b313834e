"""Tables of Kafka topics."""
