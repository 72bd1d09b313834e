"""Sources and sinks, a package for each kind; see ``_runtime/connector/`` for their contracts."""
