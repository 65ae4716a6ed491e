"""``python -m sitestats`` is the command ``sitestats``."""

from __future__ import annotations

from .cli import main

main()
