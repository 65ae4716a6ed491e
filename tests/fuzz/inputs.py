"""Inputs of the fuzzer: a response, and the function that reads it; the seeds."""

from __future__ import annotations

import gzip
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from faults.bodies import HTML, WEBSITE
from faults.responses import ENVELOPE, STATS
from sitestats._common.fields import LISTS

FOUND = Path(__file__).parent / "found"
"""Inputs that once broke something, as regression tests."""


@dataclass(frozen=True)
class Input:
    """One response, and the name of the target that reads it."""

    target: str
    body: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)

    def dump(self) -> str:
        """The input as JSON, for a file."""
        return json.dumps({**asdict(self), "body": self.body.decode("latin-1")})

    @classmethod
    def load(cls, text: str) -> Input:
        """Read the text of ``dump``."""
        values = json.loads(text)
        return cls(**{**values, "body": values["body"].encode("latin-1")})


def _entries(*names: str) -> list[dict[str, Any]]:
    return [
        {"value": name, "pageviews": 3 + number, "visitors": 2, "seconds_on_page": 9.5}
        for number, name in enumerate(names)
    ]


EVERYTHING: dict[str, Any] = {
    **STATS,
    "visitors": 2,
    "seconds_on_page": 17.5,
    "histogram": [
        {"date": "2024-03-01", "pageviews": 3, "visitors": 2},
        {"date": "2024-03-02", "pageviews": 0, "visitors": 0},
    ],
    "pages": _entries("/", "/blog/ünïcode", "/\ud800"),
    "events": [{"name": "signup", "total": 3}, {"name": "purchase", "total": 0}],
    **{name: _entries("a", "b") for name in LISTS},
}
_HOURS = [
    {"date": "2024-03-31", "hour": hour, "pageviews": 1, "visitors": 1}
    for hour in (0, "1", 23)
]
_WEEKS = [
    {"date": "2024-12-30", "year": 2025, "week": 1, "pageviews": 1, "visitors": 1}
]
_OLD = {
    "timezone": "UTC",
    "pageviews": 3,
    "visits": [{"date": "2024-03-01", "pageviews": 3, "uniques": 2}],
    "agents": [{"count": 1, "browser_name": "Firefox"}],
    "pages": [{"value": "/", "visits": 3, "uniqueVisits": 2}],
}
_ADDED = {
    "ok": True,
    "success": True,
    "hostname": "example.com",
    "customDomain": None,
    "public": False,
    "timezone": "UTC",
    "validDNS": True,
}
_REFUSED = {"ok": False, "success": False, "error": "no", "code": "BADGE_REQUIRED"}


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


SEEDS = (
    Input("totals", _json(STATS)),
    Input("everything", _json(EVERYTHING)),
    Input("hours", _json({**ENVELOPE, "histogram": _HOURS})),
    Input("weeks", _json({**ENVELOPE, "histogram": _WEEKS})),
    Input("all events", _json({**ENVELOPE, "events": EVERYTHING["events"]})),
    Input("version 2", _json(_OLD)),
    Input("version 1", _json(_OLD)),
    Input("page", _json({**STATS, "path": "/contact"})),
    Input("list", _json({"success": True, "websites": [WEBSITE, WEBSITE]})),
    Input("list", _json([WEBSITE])),
    Input("add", _json(_ADDED)),
    Input("jsonp", b"show(" + _json(STATS) + b");"),
    Input("custom", _json({"a": [1, 2.5, None, True, "x"]})),
    Input("totals", _json(_REFUSED), 423),
    Input("totals", _json({"status": 404, "message": "/x"}), 404),
    Input("add", _json(_REFUSED), 400),
    Input("jsonp", b"show(" + _json(_REFUSED) + b")", 200),
    Input("totals", HTML, 502, {"content-type": "text/html"}),
    Input("totals", b"", 401),
    Input("totals", b"", 302, {"location": "https://user:pw@elsewhere.example/?q=1"}),
    Input("totals", _json(_REFUSED), 429, {"retry-after": "7"}),
    Input(
        "totals",
        _json(_REFUSED),
        429,
        {
            "retry-after": "Fri, 31 Dec 2027 23:59:59 GMT",
            "date": "Fri, 31 Dec 2027 23:59:00 GMT",
        },
    ),
    Input("gzip", gzip.compress(_json(STATS), mtime=0)),
    Input("gzip", gzip.compress(b"a", mtime=0) + gzip.compress(b"", mtime=0) + b"\0"),
)
