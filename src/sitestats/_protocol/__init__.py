"""Turn queries into requests, and decide on retries, without I/O."""
