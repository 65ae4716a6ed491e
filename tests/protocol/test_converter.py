"""The two decoders, msgspec and cattrs: they agree, and both are strict."""

from __future__ import annotations

import datetime as dt
from typing import Any

import attrs
import pytest

from fake_responses import ALL, entry, wrong
from same_text import SameText
from sitestats._common.fields import FIELDS
from sitestats._protocol.converter import (
    structure_added,
    structure_stats,
    structure_websites,
)
from sitestats._protocol.decoder import shape
from sitestats._results.entries import (
    IncompleteListEntry,
    IncompletePageEntry,
    IncompleteTimedListEntry,
    ListEntry,
    PageEntry,
)
from sitestats._results.histogram import Bucket

UNTIMED = shape(("pageviews", "visitors", "histogram", "pages", "countries"))


WEBSITE: dict[str, Any] = {
    "hostname": "example.com",
    "is_public": False,
    "timezone": "Europe/Amsterdam",
    "has_ssl": True,
    "has_script": True,
    "own_hostname": None,
    "label": "shop",
    "pageviews": 1200,
    "events": 30,
}
ADDED: dict[str, Any] = {
    "ok": True,
    "success": True,
    "hostname": "example.com",
    "customDomain": None,
    "public": False,
    "timezone": "UTC",
    "validDNS": True,
}


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "null"),
        (True, "true"),
        (1.0, "1.0"),
        ("12", '"12"'),
        ([1], "an array"),
        ({}, "an object"),
    ],
)
def test_nothing_but_an_int_is_an_int(value: Any, shown: str) -> None:
    """Null, booleans, other numbers and strings are not converted to int."""
    assert wrong(visitors=value) == [f"$.visitors: expected int, got {shown}"]


@pytest.mark.parametrize("value", [True, "12", "12.5", [], 10**400, float("inf")])
def test_nothing_but_a_number_is_a_number(value: Any, same_text: SameText) -> None:
    """An int is accepted for a float, and nothing else is."""
    (problem,) = wrong(seconds_on_page=value)
    assert problem.startswith("$.seconds_on_page: expected a number, got ")
    same_text(problem)
    assert structure_stats({"seconds_on_page": 30}, ALL.types)[0] == {
        "seconds_on_page": 30.0
    }


@pytest.mark.parametrize("value", [None, 1, "true", "false"])
def test_nothing_but_a_boolean_is_a_boolean(value: Any, same_text: SameText) -> None:
    """A string such as "true" is no boolean."""
    assert wrong(ok=value)[0].startswith("$.ok: expected bool, got ")
    same_text(wrong(ok=value))


@pytest.mark.parametrize("value", [True, 12, 1.5, []])
def test_nothing_but_a_string_is_a_string(value: Any) -> None:
    """Values of entries are strings, or null where that is allowed."""
    assert wrong(countries=[entry(value)])[0].startswith(
        "$.countries[0].value: expected str, got "
    )


def test_every_wrong_value_is_named_by_its_path() -> None:
    """One reading finds all wrong values, also those in lists and in entries."""
    assert wrong(
        pageviews="66",
        pages=[entry(), entry(pageviews=1.5, visitors="12"), 7],
        countries={"value": "NL"},
        events=[{"name": "signup"}, {"name": None, "total": True}, "signup"],
        histogram=[{"pageviews": "1"}, "2026-02-03"],
    ) == [
        '$.pageviews: expected int, got "66"',
        '$.histogram[0].pageviews: expected int, got "1"',
        '$.histogram[1]: expected an object, got "2026-02-03"',
        "$.pages[1].pageviews: expected int, got 1.5",
        '$.pages[1].visitors: expected int, got "12"',
        "$.pages[2]: expected an object or a string, got 7",
        "$.countries: expected an array, got an object",
        "$.events[0].total: is missing",
        "$.events[1].name: expected str, got null",
        "$.events[1].total: expected int, got true",
        '$.events[2]: expected an object, got "signup"',
    ]


def test_a_long_value_is_cut_in_the_message(same_text: SameText) -> None:
    """A value of a megabyte makes no message of a megabyte."""
    # The longest that are shown as they are, and then one character more.
    for value in ("x" * 60, "x" * 61, 10**59, 10**60):
        same_text(wrong(visitors=value, countries=value))
    (problem,) = wrong(visitors="x" * 1_000_000)
    same_text(problem)
    assert len(problem) < 150
    (problem,) = wrong(seconds_on_page=10**4000)
    assert len(problem) < 150


@pytest.mark.parametrize(
    ("odd", "known"),
    [
        ("NL", {"value": "NL"}),
        ({"value": "NL"}, {"value": "NL"}),
        ({"value": None, "visitors": 2}, {"value": None, "visitors": 2}),
        (entry("NL", None, 2), {"value": "NL", "visitors": 2}),
        ({"pageviews": 3}, {"value": None, "pageviews": 3}),
        ({}, {"value": None}),
    ],
)
def test_an_odd_entry_is_kept(odd: Any, known: dict[str, Any]) -> None:
    """A plain string or a missing count does not break the list."""
    values, problems = structure_stats(
        {"countries": [odd, entry("DE", more=1)]}, UNTIMED.types
    )
    assert not problems
    assert values["countries"] == [IncompleteListEntry(known), ListEntry("DE", 3, 2)]


@pytest.mark.parametrize(
    ("odd", "known"),
    [
        ("/", {"value": "/"}),
        (entry(None), {"pageviews": 3, "visitors": 2}),
        ({"value": "/", "visits": 3, "uniqueVisits": 2}, {"value": "/"}),
    ],
)
def test_an_odd_page_is_kept(odd: Any, known: dict[str, Any]) -> None:
    """A page's path is never None: a null path counts as missing."""
    values, problems = structure_stats({"pages": [odd]}, UNTIMED.types)
    assert (values["pages"], problems) == ([IncompletePageEntry(known)], {})


def test_seconds_are_read_only_when_they_were_requested() -> None:
    """Seconds that were not requested are in raw() alone, whatever their type."""
    page = entry(seconds_on_page="soon")
    values, problems = structure_stats({"pages": [page]}, UNTIMED.types)
    assert (values["pages"], problems) == ([PageEntry("/", 3, 2)], {})
    assert wrong(pages=[page])[0].startswith("$.pages[0].seconds_on_page: ")
    values, _ = structure_stats({"countries": ["NL"]}, ALL.types)
    known = {"value": "NL", "seconds_on_page": None}
    assert values["countries"] == [IncompleteTimedListEntry(known)]


@pytest.mark.parametrize(
    ("bucket", "expected"),
    [
        ({"date": "2026-11-20"}, Bucket(dt.date(2026, 11, 20))),
        ({"date": "2026-11-20T09:00:00.000Z"}, Bucket(dt.date(2026, 11, 20))),
        ({"date": "2026-11"}, Bucket(dt.date(2026, 11, 1))),
        ({"date": "2026"}, Bucket(dt.date(2026, 1, 1))),
        ({"date": "2026-11-20", "hour": "09"}, Bucket(dt.date(2026, 11, 20), hour=9)),
        (
            {"date": "2026-11-20", "hour": "23:00", "week": "47", "year": "2026"},
            Bucket(dt.date(2026, 11, 20), hour=23, week=47, year=2026),
        ),
        (
            {"date": "2026-11-20", "hour": True, "week": "W47", "year": None},
            Bucket(dt.date(2026, 11, 20)),
        ),
        ({"date": "2026-02-30"}, Bucket()),
        ({"date": 1_772_000_000, "pageviews": 3}, Bucket(pageviews=3)),
        ({"year": 2026, "month": 1}, Bucket(year=2026)),
    ],
)
def test_undocumented_entries_of_the_histogram_are_read(
    bucket: dict[str, Any], expected: Bucket
) -> None:
    """Months, years, hours and weeks are read in every form that occurs."""
    values, problems = structure_stats({"histogram": [bucket]}, ALL.types)
    assert (values["histogram"], problems) == ([expected], {})


def test_the_names_are_those_of_the_document() -> None:
    """Every field that can be requested can be read."""
    assert ALL.names == (*FIELDS, "events")
    assert {*ALL.names} <= ALL.types.keys()


def test_websites_are_read_strictly() -> None:
    """Every wrong value of every website is named."""
    second = {**WEBSITE, "pageviews": "1200", "is_public": None}
    del second["timezone"]
    websites, problems = structure_websites([WEBSITE, second, None], "$.websites")
    assert websites == []
    assert [f"{one.where}: {one.message}" for one in problems] == [
        "$.websites[1].is_public: expected bool, got null",
        "$.websites[1].timezone: is missing",
        '$.websites[1].pageviews: expected int, got "1200"',
        "$.websites[2]: expected an object, got null",
    ]
    # No two values are always equal.
    third = {**WEBSITE, "is_public": True, "has_script": False, "own_hostname": "x.y"}
    read, _ = structure_websites([WEBSITE, third, {**WEBSITE, "has_ssl": False}], "$")
    assert [attrs.asdict(website) for website in read] == [
        {**WEBSITE, "extra": {}},
        {**third, "extra": {}},
        {**WEBSITE, "has_ssl": False, "extra": {}},
    ]
    for name in WEBSITE:
        _, problems = structure_websites([{**WEBSITE, name: 1.5}], "$")
        assert [one.where for one in problems] == [f"$[0].{name}"]


def test_websites_keep_what_is_not_known() -> None:
    """Unknown keys are in extra, prose is not, and a label may be null."""
    more = {**WEBSITE, "label": None, "team": {"id": 7}, "extra": 1, "__team": "prose"}
    ((website,), problems) = structure_websites([more], "$")
    assert not problems
    assert website.label is None
    assert website.extra == {"team": {"id": 7}, "extra": 1}
    assert hash(website)
    less = {
        name: value
        for name, value in WEBSITE.items()
        if name not in {"label", "own_hostname"}
    }
    ((website,), _) = structure_websites([less], "$")
    assert (website.label, website.own_hostname) == (None, None)


def test_the_result_of_adding_is_read_strictly(same_text: SameText) -> None:
    """Problems name the document's keys, not our attributes."""
    added, problems = structure_added({**ADDED, "plan": "team"})
    assert not problems
    assert added is not None
    assert (added.valid_dns, added.custom_domain) == (True, None)
    assert added.extra == {"plan": "team"}
    other = {"hostname": "shop.example", "public": True, "timezone": "Asia/Tokyo"}
    more = {"customDomain": "x.shop.example", "validDNS": False}
    added, _ = structure_added({**ADDED, **other, **more})
    assert added is not None
    assert (added.hostname, added.public, added.timezone) == (*other.values(),)
    assert (added.custom_domain, added.valid_dns) == (*more.values(),)
    for name in (*other, *more):
        _, problems = structure_added({**ADDED, name: 1.5})
        assert [one.where for one in problems] == [f"$.{name}"]
    _, problems = structure_added({**ADDED, "validDNS": 1, "customDomain": 2})
    assert [one.where for one in problems] == ["$.customDomain", "$.validDNS"]
    same_text(problems)
    _, problems = structure_added(["example.com"])
    assert [one.where for one in problems] == ["$"]
