"""A plan and a report with a website of each state."""

from __future__ import annotations

from typing import Any

from sitestats import Website, WebsiteSpec
from sitestats._common.errors import (
    BadRequestError,
    ConnectionFailedError,
    RequestTimeoutError,
)
from sitestats._common.wire import HttpRequest
from sitestats.provisioning import Difference, ProvisionedWebsite, ProvisioningReport
from sitestats.provisioning._report import plan_websites


def website(hostname: str, **more: Any) -> Website:
    """A website as a list has it."""
    given = {
        "is_public": False,
        "timezone": "UTC",
        "has_ssl": True,
        "has_script": True,
        "own_hostname": None,
        "label": "",
        "pageviews": 0,
        "events": 0,
    }
    return Website(hostname=hostname, **given | more)


SPECS = [
    WebsiteSpec("new.example", "Asia/Tokyo", public=True),
    WebsiteSpec("there.example"),
    WebsiteSpec("other.example", "UTC", public=False, label="shop"),
]


PLAN = plan_websites(
    SPECS,
    [
        website("there.example"),
        website("other.example", timezone="Asia/Tokyo", is_public=True, label=None),
        website("more.example"),
    ],
)


POST = HttpRequest("POST", "/api/websites/add")


def report() -> ProvisioningReport:
    """A report with one website of each state."""
    zone = Difference("timezone", "UTC", "Asia/Tokyo")
    return ProvisioningReport(
        (
            ProvisionedWebsite(WebsiteSpec("added.example"), "added"),
            ProvisionedWebsite(WebsiteSpec("present.example"), "present"),
            ProvisionedWebsite(
                WebsiteSpec("differing.example"), "differing", differences=(zone,)
            ),
            ProvisionedWebsite(
                WebsiteSpec("refused.example"),
                "refused",
                error=BadRequestError("It is\ntaken", status=400, request=POST),
            ),
            ProvisionedWebsite(
                WebsiteSpec("unknown.example"),
                "unknown",
                error=RequestTimeoutError("no response within 30 s"),
            ),
            ProvisionedWebsite(
                WebsiteSpec("not-tried.example", public=True, label="x"), "not_tried"
            ),
        ),
        stopped=ConnectionFailedError("the list can't be read back: refused"),
    )
