"""Sources and sinks, a package for each kind; ``_runtime/connector.py`` says what they are."""
