"""What the service's document states, section by section, and the tests that hold it.

A test that holds a statement names it, word by word:

    @promise("8", "limit is 1 to 1000")
    def test_a_limit_beyond_a_thousand_is_refused() -> None: ...

The test shows it of the client and of the emulator: of both sides at once.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Final

import pytest

STATEMENTS: Final[dict[str, tuple[str, ...]]] = {
    "1": (
        "the Admin API lists websites and adds one",
        "the Stats API gives the numbers of the dashboard",
        "custom endpoints exist on request",
        "statistics are at the dashboard's address with .json",
    ),
    "2.1": (
        "a website has a hostname, a time zone and a label",
        "is_public, has_ssl and has_script are true or false",
        "own_hostname is a custom domain or null",
        "pageviews and events are estimates per 30 days",
    ),
    "2.2": (
        "ok and success are true on success",
        "the result has the hostname and the time zone that was applied",
        "customDomain is a domain or null",
        "public and validDNS are true or false",
    ),
    "2.3": (
        "the response has only the requested fields",
        "pageviews and visitors are totals",
        "histogram has an entry for each day or interval",
        "pages have value, pageviews and visitors",
        "lists have values with their page views and visitors",
        "device_types are mobile, tablet, desktop and tv",
        "events have name and total",
        "seconds_on_page is a median",
        "with seconds_on_page each entry of another list has its own",
        "what info adds is not shown",
    ),
    "3": (
        "a website is public or private",
        "requests to a locked website fail",
        "adding makes a website, private by default",
    ),
    "4.1": (
        "GET /api/websites",
        "the list needs Api-Key and User-Id",
        "the response has success and websites",
        "a team has no effect",
    ),
    "4.2": (
        "POST /api/websites/add with JSON",
        "hostname is a host name",
        "timezone is a valid name, else UTC",
        "isPublic is true or false, default false",
        "label is text and optional",
        "the caller is owner, admin or developer",
        "the plan's limit is not reached",
    ),
    "4.3": (
        "GET /{hostname}.json",
        "GET /{hostname}/{path}.json is one page",
        "start and end are dates or placeholders",
        "a date is one of the calendar",
        "the end is not before the start",
        "timezone is a valid name with its capitals",
        "info is true or false, default true",
        "callback wraps the response",
        "events are names, or * for all",
        "interval is hour, day, week, month or year",
        "fields are some of fifteen",
        "a filter's value is text that is not empty",
        "page is a single page",
        "pages are separated by commas",
        "country, referrer, UTM values, browser and OS are filters",
        "device_type is mobile, tablet, desktop or tv",
        "filters apply to events",
        "a metadata key is letters, digits and underscores",
        "a metadata key has no type suffix",
        "metadata types are detected",
        "a number matches numbers and text",
        "true and false match flags, and text",
        "a UTC date-time matches dates, and text",
        "metadata matches are exact",
        "all metadata filters must match",
        "a trailing * matches what begins so",
        "page or pages may hold one contains search",
        "a contains search has exactly one pattern",
        "a contains search has * at both ends and none inside",
        "a contains search has only pageviews, visitors and histogram",
        "a contains search has no events",
        "each requested event has an entry",
    ),
    "5": (
        "the Admin API needs Api-Key and User-Id",
        "a public website needs no key for most fields",
        "a private website needs a key",
        "hidden top pages need a key: pages, page filters, a path, version 2",
        "contains searches need a key",
        "requests from any website are allowed",
    ),
    "6": ("custom events are counted and read by events",),
    "7": (
        "an error response has ok false and usually a message",
        "400: a website cannot be added",
        "423: locked, code BADGE_REQUIRED",
        "429: Retry-After has the seconds to wait",
    ),
    "8": (
        "limit is 1 to 1000",
        "limit is 50 by default",
        "events=* gives at most 1000 events",
        "a contains search has 12 characters that are not slashes",
        "the default period is one month until today",
    ),
    "9": (
        "version is 1 to 6",
        "without a version it is version 1",
        "interval=hour needs version 6",
        "metadata filters need version 6",
        "version 2 has pages always",
    ),
}
TESTS: Final = Path(__file__).parents[1]


def promise(section: str, *statements: str) -> pytest.MarkDecorator:
    """The marker of a test that holds *statements* of a section of the document."""
    for statement in statements:
        assert statement in STATEMENTS[section], f"section {section}: {statement!r}"
    return pytest.mark.promise(section, *statements)


def kept() -> dict[tuple[str, str], str]:
    """The first test of each section and statement: ``client/test_a::test_b``.

    They are read from the code of the tests, so that none has to be imported.
    """
    found: dict[tuple[str, str], str] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        file = path.relative_to(TESTS).with_suffix("").as_posix()
        code = path.read_text("utf-8")
        for node in ast.walk(ast.parse(code if "@promise(" in code else "")):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            for call in node.decorator_list:
                if isinstance(call, ast.Call) and ast.unparse(call.func) == "promise":
                    section, *statements = map(ast.literal_eval, call.args)
                    for statement in statements:
                        found.setdefault((section, statement), f"{file}::{node.name}")
    return found
