"""Typed results: statistics, lists, outcomes, websites."""
