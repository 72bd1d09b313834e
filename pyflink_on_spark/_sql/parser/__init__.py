"""SQL text becomes statements and expressions.

The parser is our own: Flink's grammar refuses what general SQL parsers accept, reserves words, and
names the place where a text stops being SQL.
"""
