"""The contracts of the runtime with operators, connectors and the job: contexts and plans."""
