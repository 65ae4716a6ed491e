"""Requests and responses as plain values."""
