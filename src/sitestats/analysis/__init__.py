"""Frames, tables, pictures and comparisons of results.

The results import what they need from here when one of their methods is called,
so the package costs nothing until then.
"""
