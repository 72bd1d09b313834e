"""The JSON of change data capture: debezium, canal, maxwell and ogg."""
