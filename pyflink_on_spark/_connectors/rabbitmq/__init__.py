"""Queues of RabbitMQ as sources and sinks, over pika."""
