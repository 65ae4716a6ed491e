"""Fixtures that run calls with every client variant."""

from __future__ import annotations

from client_calls import backend, emulator, run

__all__ = ["backend", "emulator", "run"]
