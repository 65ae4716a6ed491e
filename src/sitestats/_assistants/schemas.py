"""The arguments of the tools as JSON schemas, from the tables of fields and filters."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Final, TypeAlias, get_args

from sitestats._base.fields import FIELD_ROWS, FIELDS
from sitestats._query.parameters import FILTERS
from sitestats._query.periods import RELATIONS, WORDS
from sitestats._query.rules import Interval

Schema: TypeAlias = "dict[str, Any]"
"""A JSON schema, as the protocol has it."""

MOST_ENTRIES: Final = 100
"""The most entries of a list in an answer; more of them would fill a context."""
MOST_OF_A_REPORT: Final = 1000
"""The most entries of a list in a report, which no model reads."""
FEW_ENTRIES: Final = 20
"""The entries of a list where the assistant gives no limit."""
MOST_WEBSITES: Final = 200
"""The most websites in an answer."""
DAYS: Final = ("today", "yesterday")
"""The words for a day, which a model writes in place of the name of a period."""


def _text(about: str) -> Schema:
    return {"type": "string", "description": about}


def _day(which: str) -> Schema:
    return _text(f"the {which} day: 2026-03-01, today, yesterday or today-30d")


_FIELDS: Final = "; ".join(f"{name}: {FIELD_ROWS[name].about}" for name in FIELDS)
"""What each field is."""

QUESTION: Final[Schema] = {
    "fields": {
        "type": "array",
        "items": {"type": "string", "enum": [*FIELDS]},
        "description": f"what to request. {_FIELDS}",
    },
    "events": {
        "type": "array",
        "items": {"type": "string"},
        "description": 'names of events to count; ["*"] counts all of them',
    },
    "during": _text(
        "the period by a name: a day 2026-03-05, week 2026-W10, month 2026-03, "
        f"quarter 2026-Q1, year 2026, or {', '.join((*DAYS, *WORDS))}"
    ),
    "last": {
        "type": "integer",
        "minimum": 1,
        "description": "the period: the last so many whole days, up to yesterday",
    },
    "start": _day("first"),
    "end": _day("last"),
    "timezone": _text(
        "the zone of the days, such as Europe/Amsterdam; left out, the website's own"
    ),
    "interval": {
        "type": "string",
        "enum": [*get_args(Interval)],
        "description": "the width of the histogram's entries; left out, a day",
    },
    "where": {
        "type": "object",
        "properties": {name: {"type": "string"} for name in FILTERS},
        "additionalProperties": False,
        "description": "filters, which all have to match; a * at the end of a value "
        'matches everything that begins so, such as {"pages": "/blog*"}',
    },
    "metadata": {
        "type": "object",
        "additionalProperties": {"type": ["string", "integer", "boolean"]},
        "description": "filters by metadata, each with its exact value",
    },
    "limit": {
        "type": "integer",
        "minimum": 1,
        "maximum": MOST_OF_A_REPORT,
        "description": f"the most entries of each list, up to {MOST_ENTRIES}; left "
        f"out, {FEW_ENTRIES}; a report has up to {MOST_OF_A_REPORT:,}, also without it",
    },
}
"""The arguments of each tool that requests statistics."""

_OTHERS: Final[Schema] = {
    "hostname": _text("the website's host name, as list_websites has it"),
    "against": _text(
        f"the other period: {', '.join(RELATIONS)}, or a name such as 2025-03 or "
        "last-year; left out, previous-period"
    ),
    "contains": _text("a part of the host name; left out, all websites"),
}
"""The arguments that a tool has by their own names."""


def arguments_of(call: Callable[..., object]) -> Schema:
    """The schema of a tool's arguments: the arguments of *call*, and the question if it
    takes others.
    """
    parameters = inspect.signature(call).parameters
    own = [name for name in parameters if name in _OTHERS]
    question = QUESTION if "question" in parameters else {}
    return {
        "type": "object",
        "properties": {**{name: _OTHERS[name] for name in own}, **question},
        "required": [
            name for name in own if parameters[name].default is inspect.Parameter.empty
        ],
        "additionalProperties": False,
    }
