"""What the tests of queries know of the inside."""

from __future__ import annotations

from sitestats._query.builder import query_against
from sitestats._query.parameters import PARAMETERS
from sitestats._query.periods import MOST_DAYS, days_back
from sitestats._query.versions import VERSIONS, WITH_HOURS, version_row
from sitestats.emulator._parameters import FILTERS as EMULATED_FILTERS
from sitestats.emulator._parameters import FORMS as EMULATED_FORMS
from sitestats.emulator._parameters import LATEST as EMULATED_LATEST
from sitestats.emulator._parameters import METADATA as EMULATED_METADATA
from sitestats.emulator._parameters import read as read_by_the_emulator

__all__ = [
    "EMULATED_FILTERS",
    "EMULATED_FORMS",
    "EMULATED_LATEST",
    "EMULATED_METADATA",
    "MODULE_OF_VERSIONS",
    "MOST_DAYS",
    "PARAMETERS",
    "VERSIONS",
    "WITH_HOURS",
    "days_back",
    "query_against",
    "read_by_the_emulator",
]

MODULE_OF_VERSIONS = version_row.__module__
"""The name of the module with the table of the versions."""
