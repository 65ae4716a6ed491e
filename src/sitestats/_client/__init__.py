"""The two clients. They run operations, and decide nothing."""
