"""What tests of several folders know of the inside: nothing else here has its names.

The tests of a folder import what they alone need from an ``inside.py`` of their folder.
So what is renamed or moved within the package changes a line of these files, and no
test. ``tests/project`` counts the files that know private modules.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from types import SimpleNamespace
from typing import Any

import pytest

from sitestats._base.fields import FIELDS, LISTS
from sitestats._base.hostnames import BaseAddress
from sitestats._base.lock_files import locked
from sitestats._base.zones import zone_names
from sitestats._configuration.secrets import Secret
from sitestats._configuration.settings import Settings
from sitestats._protocol.flow import Moment, Note, Now, Send, Sleep
from sitestats._protocol.session import Session
from sitestats._query import periods
from sitestats._query.builder import parameters_of
from sitestats._query.parameters import FILTERS
from sitestats._query.periods import WORDS, placeholder
from sitestats._query.rules import INTERVALS, RULES
from sitestats._query.versions import LATEST_VERSION, SENT_VERSION
from sitestats._reading.decoding import decode_json, read_json, read_jsonp
from sitestats._reading.websites import read_added, read_websites
from sitestats._results.tables import label_of
from sitestats._testing.sample_body import StatsValues
from sitestats._wire.messages import HttpResponse

__all__ = [
    "FIELDS",
    "FILTERS",
    "INTERVALS",
    "LATEST_VERSION",
    "LISTS",
    "RULES",
    "SENT_VERSION",
    "WORDS",
    "BaseAddress",
    "HttpResponse",
    "Moment",
    "Note",
    "Now",
    "Secret",
    "Send",
    "Session",
    "Settings",
    "Sleep",
    "StatsValues",
    "decode_json",
    "label_of",
    "locked",
    "parameters_of",
    "placeholder",
    "read_added",
    "read_json",
    "read_jsonp",
    "read_websites",
    "set_clock_of_clients",
    "set_present_of_queries",
    "settings_of",
    "zone_names",
]


def settings_of(client: Any) -> Settings:
    """What *client*, of either kind, is made of."""
    settings: Settings = client._settings
    return settings


def set_clock_of_clients(
    patch: pytest.MonkeyPatch, **functions: Callable[..., object]
) -> None:
    """Have clients read the time, and wait, by these functions of the module time."""
    clock = SimpleNamespace(**{**vars(time), **functions})
    patch.setattr("sitestats._client.runner.time", clock)


def set_present_of_queries(patch: pytest.MonkeyPatch, now: datetime) -> None:
    """Have the words of queries, such as `yesterday`, count from *now*."""
    moment_of = periods.moment_of
    patch.setattr(periods, "moment_of", lambda given: moment_of(given or now))
