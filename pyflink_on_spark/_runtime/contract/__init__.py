"""What the runtime agrees on with operators, connectors and the job: contexts and plans."""
