"""These tests need the extra ``warehouse``."""

from __future__ import annotations

from importlib.util import find_spec

# Not in every environment: see noxfile.py.
collect_ignore_glob = ["test_*.py"] if find_spec("dlt") is None else []
