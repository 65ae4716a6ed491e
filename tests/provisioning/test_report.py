"""Plans and reports: the state of each website, as views, text, JSON and frames."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provisioning.inside import State, plan_websites, table_of
from sitestats import (
    BadRequestError,
    ConnectionFailedError,
    InvalidInputError,
    Problem,
    RequestTimeoutError,
    SiteStatsError,
    Website,
    WebsiteList,
    WebsiteSpec,
)
from sitestats.provisioning import (
    Difference,
    ProvisionedWebsite,
    ProvisioningReport,
)
from sitestats.types import HttpRequest

ZONE = Difference("timezone", "UTC", "Asia/Tokyo")
STATES = get_args(State)[1:]
"""Those of a report."""


def website(hostname: str, **more: Any) -> Website:
    """A website as a list has it."""
    given = {"is_public": False, "timezone": "UTC", "has_ssl": True, "label": ""}
    given |= {"has_script": True, "own_hostname": None, "pageviews": 0, "events": 0}
    return Website(hostname=hostname, **given | more)


SPECS = [
    WebsiteSpec("new.example", "Asia/Tokyo", public=True),
    WebsiteSpec("there.example"),
    WebsiteSpec("other.example", "UTC", public=False, label="shop"),
]


PLAN = plan_websites(
    SPECS,
    WebsiteList(
        [
            website("there.example"),
            website("other.example", timezone="Asia/Tokyo", is_public=True, label=None),
            website("more.example"),
        ]
    ),
)


BY_HAND = (
    "the service's API can't change a website: change these by hand, in the website's "
    "settings in the service's dashboard"
)
POST = HttpRequest("POST", "/api/websites/add")


def report() -> ProvisioningReport:
    """A report with one website of each state."""
    refusal = BadRequestError("It is\ntaken", status_code=400, request=POST)
    timeout = RequestTimeoutError("no response within 30 s")
    new = {name: WebsiteSpec(f"{name}.example") for name in STATES}
    new["not_tried"] = WebsiteSpec("not-tried.example", public=True, label="x")
    items = (
        ProvisionedWebsite(new["added"], "added"),
        ProvisionedWebsite(new["present"], "present", website("x.example")),
        ProvisionedWebsite(
            new["differing"], "differing", website("x.example"), (ZONE,)
        ),
        ProvisionedWebsite(new["refused"], "refused", error=refusal),
        ProvisionedWebsite(new["unknown"], "unknown", error=timeout),
        ProvisionedWebsite(new["not_tried"], "not_tried"),
    )
    stopped = ConnectionFailedError("the list can't be read back: refused")
    return ProvisioningReport(items, stopped)


def test_a_plan_prints_as_lines() -> None:
    """A plan prints a summary, a line for each website, and what to change by hand. A
    name that is sent in another form than it was given is shown in both.
    """
    assert str(PLAN) == (
        "3 websites: 1 to add, 1 present, 1 differing\n"
        "to add     new.example    Asia/Tokyo, public\n"
        "present    there.example\n"
        "differing  other.example  timezone is 'Asia/Tokyo' and should be 'UTC'; "
        "public is true and should be false; label is not set and should be 'shop'\n"
        f"{BY_HAND}"
    )
    assert (len(PLAN), [*PLAN]) == (3, [*PLAN.items])
    assert PLAN.changes() == str(PLAN).replace("present    there.example\n", "")
    assert repr(PLAN) == f"<ProvisioningPlan of {PLAN.summary()}>"
    assert str(plan_websites([], WebsiteList())) == "0 websites: nothing to do"
    plan = plan_websites([WebsiteSpec("Bücher.example")], WebsiteList())
    assert "to add     xn--bcher-kva.example (Bücher.example)  UTC, " in str(plan)
    assert plan.items[0].row()["written"] == "Bücher.example"


zones = st.sampled_from(["UTC", "Asia/Tokyo"])
websites = st.builds(
    website,
    st.sampled_from(["a.example", "B.example", "c.example.", "A B"]),
    timezone=zones,
    is_public=st.booleans(),
    label=st.sampled_from([None, "", "x"]),
)
expected = st.lists(
    st.builds(
        WebsiteSpec,
        st.sampled_from(["a.example", "b.example", "c.example", "d.example"]),
        zones | st.none(),
        st.sampled_from([True, False, None]),
        st.sampled_from([None, "", "x"]),
        accept_differing=st.booleans(),
    ),
    unique_by=lambda spec: spec.hostname,
)


@given(expected, st.lists(websites, unique_by=lambda site: site.hostname))
def test_every_website_has_one_state(
    specs: list[WebsiteSpec], existing: list[Website]
) -> None:
    """Each website is in exactly one view, and has differences only if it differs."""
    plan = plan_websites(specs, WebsiteList(existing))
    views = [*plan.to_add, *plan.present, *plan.differing]
    assert {item.hostname for item in views} == {spec.hostname for spec in specs}
    assert len(views) == len(specs)
    for item in plan.items:
        assert (item.website is None) == (item.state == "to_add")
        assert bool(item.differences) == (item.state == "differing")
        assert all(d.expected != (d.found or "") for d in item.differences)
        # What a specification leaves out is not compared.
        assert all(d.expected == getattr(item.spec, d.field) for d in item.differences)
        accepted = item.spec.accept_differing or not item.differences
        assert item.as_specified is (item.state != "to_add" and accepted)


def unread(name: str) -> Website:
    """A website of which this value can't be read."""
    problem = Problem("is missing", where=f"$.websites[3].{name}")
    return website("there.example", **{name: None}, problems=(problem,))


@pytest.mark.parametrize("name", ["timezone", "public", "label"])
def test_what_can_not_be_read_of_a_website_is_unknown(name: str) -> None:
    """It neither differs nor is as specified, if it is specified at all; another value
    still differs; and no specification is made of it.
    """
    values: dict[str, Any] = {"timezone": "UTC", "public": False, "label": "x"}
    listed = unread(name.replace("public", "is_public"))
    for asked, state in (({name: values[name]}, "unknown"), ({}, "present")):
        spec = WebsiteSpec("there.example", **asked)
        plan = plan_websites([spec], WebsiteList([listed]))
        assert [item.state for item in plan.items] == [state]
        assert plan.complete is (state == "present")
        assert (f"{name} can't be read" in plan.changes()) is (state == "unknown")
    other = {"timezone": "public", "public": "timezone", "label": "public"}[name]
    wrong = {
        name: values[name],
        other: {"public": True, "timezone": "Asia/Tokyo"}[other],
    }
    (item,) = plan_websites(
        [WebsiteSpec("there.example", **wrong)], WebsiteList([listed])
    ).items
    assert [one.field for one in item.differences] == [other]
    assert item.state == "differing"
    assert f"{name} can't be read" in item.detail()
    with pytest.raises(InvalidInputError, match=name):
        WebsiteSpec.of(listed)
    assert WebsiteSpec.of(unread("pageviews")).hostname == "there.example"


def test_a_list_without_a_host_name_has_nothing_to_add() -> None:
    """The website without one may be any of the others."""
    plan = plan_websites(
        SPECS, WebsiteList([website("there.example")], incomplete=True)
    )
    states = [item.state for item in plan.items]
    assert states == ["unknown", "present", "unknown"]
    assert "host name can't be read" in str(plan)


def test_the_first_of_two_websites_of_one_name_counts() -> None:
    """The service has names that differ in their case alone as one website."""
    twice = [website("A.example"), website("a.example", timezone="Asia/Tokyo")]
    plan = plan_websites([WebsiteSpec("a.example", "UTC")], WebsiteList(twice))
    assert plan.complete


def test_what_may_differ_is_not_to_be_changed() -> None:
    """The difference is shown, without the advice to change it."""
    spec = WebsiteSpec("a.example", "UTC", accept_differing=True)
    listed = WebsiteList([website("a.example", timezone="Asia/Tokyo")])
    plan = plan_websites([spec], listed)
    assert "timezone is 'Asia/Tokyo' and should be 'UTC'" in str(plan)
    assert "by hand" not in str(plan)


def test_another_name_of_the_zone_is_no_difference() -> None:
    """A zone that the service lists by its other name needs no change by hand."""
    spec = WebsiteSpec("there.example", "Asia/Kathmandu")
    listed = website("there.example", timezone="Asia/Katmandu")
    assert plan_websites([spec], WebsiteList([listed])).complete


# --- reports ----------------------------------------------------------------------


@pytest.mark.parametrize("state", STATES)
def test_only_what_is_as_specified_is_complete(state: str) -> None:
    """A website is in the view of its state. Only if each exists without differences,
    or they are accepted, the report is complete, and raises nothing.
    """
    (item,) = getattr(report(), state)
    assert item.state == state
    only = ProvisioningReport((item,))
    assert only.complete == (state in {"added", "present"})
    if only.complete:
        only.raise_for_failures()
    else:
        with pytest.raises(SiteStatsError, match=f"1 of 1 website .*{item.hostname}"):
            only.raise_for_failures()
    for accepts in (False, True):
        spec = WebsiteSpec("a.example", accept_differing=accepts)
        item = ProvisionedWebsite(spec, "added", differences=(ZONE,))
        assert ProvisioningReport((item,)).complete is accepts


def test_a_report_prints_as_lines() -> None:
    """A report prints a summary, a line a website, and what to change by hand."""
    assert str(report()) == (
        "6 websites: 1 added, 1 present, 1 differing, 1 refused, 1 unknown, "
        "1 not tried\n"
        "added      added.example\n"
        "present    present.example\n"
        "differing  differing.example  timezone is 'Asia/Tokyo' and should be 'UTC'\n"
        "refused    refused.example    It is taken\n"
        "unknown    unknown.example    no response within 30 s\n"
        "not tried  not-tried.example\n"
        "stopped: the list can't be read back: refused\n"
        f"{BY_HAND}"
    )
    assert repr(report()) == f"<ProvisioningReport of {report().summary()}>"


def test_a_table_has_what_needs_attention_first() -> None:
    """A shortened table keeps the websites that are not as specified, and its note."""
    table = table_of(report())
    rows = [*zip(*(column.cells for column in table.body), strict=True)]
    assert [row[0] for row in rows] == [
        *("differing.example", "refused.example", "unknown.example"),
        *("not-tried.example", "added.example", "present.example"),
    ]
    assert rows[3] == ("not-tried.example", "not tried", "UTC", True, "x", None)
    assert table.title == report().summary()
    assert table.note.startswith("stopped: the list can't be read back: refused; ")


def test_a_report_becomes_json() -> None:
    """A report can be written as JSON, with the service's messages."""
    read = json.loads(json.dumps(report().to_dict()))
    items = read.pop("items")
    assert read.pop("stopped")["text"] == "the list can't be read back: refused"
    assert read == {"complete": False}
    zone = {"field": "timezone", "expected": "UTC", "found": "Asia/Tokyo"}
    assert items[2]["differences"] == [zone]
    error = items[3].pop("error")
    assert (error["type"], error["message"]) == ("BadRequestError", "It is\ntaken")
    spec = {
        "hostname": "refused.example",
        "timezone": None,
        "public": None,
        "label": None,
        "accept_differing": False,
    }
    assert items[3] == {
        "hostname": "refused.example",
        "state": "refused",
        "spec": spec,
        "expected": {**spec, "timezone": "UTC", "public": False},
        "as_specified": False,
        "website": None,
        "differences": [],
    }


def test_a_report_becomes_a_frame() -> None:
    """A frame has a row for each website, and the same dtypes without rows."""
    pytest.importorskip("pandas")
    frame = report().to_pandas()
    assert list(frame["state"]) == list(STATES)
    assert [*frame.columns] == report().columns() == [*report().to_dicts()[0]]
    assert frame["public"].dropna().tolist() == [False] * 3 + [True]
    assert frame["error"][3] == "It is taken"
    differing = "timezone is 'Asia/Tokyo' and should be 'UTC'"
    assert frame["differences"].dropna().to_dict() == {2: differing}
    empty: Any = ProvisioningReport(()).to_pandas()
    assert empty.dtypes.to_dict() == frame.dtypes.to_dict()
