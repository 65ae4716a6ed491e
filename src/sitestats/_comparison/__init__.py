"""Compare two periods of queries."""
