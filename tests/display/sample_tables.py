"""Attacks (XSS) that a visitor might put into a path, and tables with such texts."""

from __future__ import annotations

from typing import Any

import attrs

from display.inside import changes_of
from displayed import pages_of
from plotted import daily, stats_of
from sitestats import (
    AddedWebsite,
    Entries,
    Failed,
    InvalidResponseError,
    ListEntry,
    NotFoundError,
    Problem,
    StatsQuery,
    Website,
    WebsiteList,
    WebsiteSpec,
)
from sitestats.provisioning import (
    Difference,
    ProvisionedWebsite,
    ProvisioningPlan,
    ProvisioningReport,
)
from sitestats.types import Comparison

ATTACKS = [
    *("<script>alert(1)</script>", "<img src=x onerror=alert(1)>"),
    *("'\"><svg onload=alert(1)>", "</td></tr></table><h1>"),
    *("</style><script>alert(1)</script>", "javascript:alert(1)", "<!--", "]]>"),
    *("&lt;script&gt;", "&#x3c;b&#x3e;", "\x00<b>", "\u202e</b>"),
    *("<a href='javascript:alert(1)'>x</a>", "{{7*7}}${7*7}"),
    *("' onmouseover='alert(1)", '" style="background:url(//x)'),
]


def website(text: str, **more: Any) -> Website:
    """A website with *text* as every text."""
    given: dict[str, Any] = dict.fromkeys(
        ("hostname", "timezone", "own_hostname", "label"), text
    )
    given |= {"is_public": True, "has_ssl": True, "has_script": False}
    given |= {"pageviews": 1234567, "events": 0, "extra": {text: text}}
    return Website(**given | more)


def sample_tables(text: str) -> list[Any]:
    """One object of each kind."""
    spec, failure = WebsiteSpec("example.com", label="shop"), InvalidResponseError(text)
    there = website(text)
    differences = (Difference("label", "shop", text),)
    differing = ProvisionedWebsite(spec, "differing", there, differences)
    refusal = NotFoundError(text, status_code=400)
    refused = ProvisionedWebsite(spec, "refused", error=refusal)
    added = AddedWebsite(
        hostname=text,
        custom_domain=text,
        public=True,
        timezone=text,
        valid_dns=True,
        differences=(Problem(text, where="timezone"),),
        extra={text: [text]},
    )
    return [
        *(there, WebsiteList([there]), added, ProvisioningPlan((differing,))),
        ProvisioningReport((differing, refused), stopped=failure),
        Failed(StatsQuery("example.com"), 0, failure),
    ]


def attacked(text: str) -> list[Any]:
    """Every kind of result, with *text* wherever a visitor's or the service's is."""
    days = attrs.evolve(stats_of(daily(2)), timezone=text)
    referrers = Entries([ListEntry(text, 1, 1)], name="referrers", entry_type=ListEntry)
    return [
        *(pages_of(text, "/"), referrers, days, Comparison(days, days)),
        changes_of(pages_of(text), pages_of("/")),
        *sample_tables(text),
    ]
