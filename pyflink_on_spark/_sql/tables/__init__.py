"""Tables outside: formats of messages and files, and the connectors that read and write them."""
