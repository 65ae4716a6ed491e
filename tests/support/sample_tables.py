"""Sample objects that display as one table, with a given text everywhere."""

from __future__ import annotations

from typing import Any

from sitestats import (
    AddedWebsite,
    Failed,
    NotFoundError,
    Problem,
    ResponseError,
    StatsQuery,
    Website,
    WebsiteSpec,
)
from sitestats._results.websites import WebsiteList
from sitestats.provisioning import (
    Difference,
    ProvisionedWebsite,
    ProvisioningPlan,
    ProvisioningReport,
)


def website(text: str, **more: Any) -> Website:
    """A website with *text* as every text."""
    return Website(
        **{
            "hostname": text,
            "timezone": text,
            "own_hostname": text,
            "label": text,
            "extra": {text: text},
            "is_public": True,
            "has_ssl": True,
            "has_script": False,
            "pageviews": 1234567,
            "events": 0,
            **more,
        }
    )


def sample_tables(text: str) -> list[Any]:
    """One object of each kind."""
    spec = WebsiteSpec("example.com", label="shop")
    difference = Difference("label", "shop", text)
    there = website(text)
    refusal = NotFoundError(text, status=400)
    added = AddedWebsite(
        hostname=text,
        custom_domain=text,
        public=True,
        timezone=text,
        valid_dns=True,
        differences=(Problem(text, where="timezone"),),
        extra={text: [text]},
    )
    report = ProvisioningReport(
        (
            ProvisionedWebsite(spec, "differing", there, (difference,)),
            ProvisionedWebsite(spec, "refused", error=refusal),
        ),
        stopped=ResponseError(text),
    )
    return [
        there,
        WebsiteList([there]),
        added,
        ProvisioningPlan(
            (ProvisionedWebsite(spec, "differing", there, (difference,)),)
        ),
        report,
        Failed(StatsQuery("example.com"), 0, ResponseError(text)),
    ]
