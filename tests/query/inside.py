"""What the tests of queries know of the inside."""

from __future__ import annotations

from sitestats._query.builder import query_against
from sitestats._query.periods import MOST_DAYS, days_back
from sitestats.emulator._parameters import read as read_by_the_emulator

__all__ = ["MOST_DAYS", "days_back", "query_against", "read_by_the_emulator"]
