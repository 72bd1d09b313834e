"""What every layer shares: error types, the marker for what is not supported, call sites, the import hook."""
