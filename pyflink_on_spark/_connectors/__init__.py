"""Sources and sinks, a package for each kind; `_runtime/contract/connector/` has the contracts."""
