"""What the tests of this folder know of the inside."""

from __future__ import annotations

from sitestats._base.errors import warn
from sitestats._base.fields import FIELD_ROWS, Field
from sitestats._base.forks import HeldAcrossForks
from sitestats._base.hostnames import normalise_hostname
from sitestats._base.progress import ShowProgress, showing
from sitestats._base.registry import Registry
from sitestats._base.text import csv_line, unmarked
from sitestats._query.periods import timezone as zone_name
from sitestats.emulator._parameters import FIELDS as EMULATED_FIELDS
from sitestats.emulator._parameters import LISTS as EMULATED_LISTS

__all__ = [
    "A_MODULE",
    "EMULATED_FIELDS",
    "EMULATED_LISTS",
    "FIELD_ROWS",
    "MODULE_OF_FIELDS",
    "Field",
    "HeldAcrossForks",
    "Registry",
    "ShowProgress",
    "csv_line",
    "normalise_hostname",
    "showing",
    "unmarked",
    "warn",
    "zone_name",
]

A_MODULE = warn.__module__
"""The name of some module deep in the package."""
MODULE_OF_FIELDS = Field.__module__
"""The name of the module with the table of the fields."""
