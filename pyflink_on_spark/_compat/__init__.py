"""The part that every layer shares: errors, the marker for gaps, call sites, the import hook."""
