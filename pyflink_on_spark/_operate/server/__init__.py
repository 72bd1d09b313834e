"""The driver's server: HTTP on a network address or a Unix socket."""
