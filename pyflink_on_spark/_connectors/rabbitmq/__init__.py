"""Queues of RabbitMQ as sources and sinks, with pika."""
