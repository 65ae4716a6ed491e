"""Plans: which websites would be added, exist as specified, or differ."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitestats import Website, WebsiteSpec
from sitestats.emulator import Emulator
from sitestats.provisioning._plan import plan_websites

ZONES = ["UTC", "Asia/Tokyo"]


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
    WebsiteSpec("other.example", label="shop"),
]
PLAN = plan_websites(
    SPECS,
    [
        website("there.example"),
        website("other.example", timezone="Asia/Tokyo", is_public=True, label=None),
        website("more.example"),
    ],
)


def test_each_website_is_in_the_view_of_its_state() -> None:
    """Missing, existing and differing websites are told apart, in the given order."""
    assert [item.spec for item in PLAN.items] == SPECS
    assert [item.hostname for item in PLAN.to_add] == ["new.example"]
    assert [item.hostname for item in PLAN.present] == ["there.example"]
    assert [item.hostname for item in PLAN.differing] == ["other.example"]
    assert not PLAN.complete
    assert plan_websites(SPECS[1:2], [website("there.example")]).complete


def test_another_name_of_the_zone_is_no_difference() -> None:
    """A zone that the service lists by its other name needs no change by hand."""
    spec = WebsiteSpec("there.example", "Asia/Kathmandu")
    listed = website("there.example", timezone="Asia/Katmandu")
    assert plan_websites([spec], [listed]).complete


def test_a_plan_prints_as_lines() -> None:
    """A plan prints a summary, a line for each website, and what to change by hand."""
    assert str(PLAN) == (
        "3 websites: 1 to add, 1 present, 1 differing\n"
        "to add     new.example    Asia/Tokyo, public\n"
        "present    there.example\n"
        "differing  other.example  timezone is 'Asia/Tokyo' and should be 'UTC'; "
        "public is true and should be false; label is not set and should be 'shop'\n"
        "no endpoint of the service changes a website: change these by hand, in the "
        "website's settings in the service's dashboard"
    )
    assert repr(PLAN) == (
        "<ProvisioningPlan of 3 websites: 1 to add, 1 present, 1 differing>"
    )
    assert str(plan_websites([], [])) == (
        "0 websites: 0 to add, 0 present, 0 differing"
    )


def test_a_plan_is_a_value() -> None:
    """A plan can be pickled, compared, and written as JSON."""
    assert pickle.loads(pickle.dumps(PLAN)) == PLAN
    read = json.loads(json.dumps(PLAN.to_dict()))
    assert read["complete"] is False
    assert read["items"][0] == {
        "hostname": "new.example",
        "written": "new.example",
        "state": "to_add",
        "timezone": "Asia/Tokyo",
        "public": True,
        "label": None,
        "differences": [],
    }


def test_the_columns_are_the_values_of_a_row() -> None:
    """The columns of CSV are what each row has, also where there is no row."""
    assert PLAN.columns() == tuple(PLAN.items[0].row())
    assert PLAN.columns() == (
        *("hostname", "written", "state", "timezone", "public", "label"),
        "differences",
    )


def test_names_are_shown_as_sent_and_as_written() -> None:
    """A name that is sent in another form than it was given is shown in both."""
    plan = plan_websites([WebsiteSpec("Bücher.example"), WebsiteSpec("A.example")], [])
    assert str(plan).splitlines()[1:] == [
        "to add     xn--bcher-kva.example (Bücher.example)  UTC, private",
        "to add     a.example                               UTC, private",
    ]
    assert [item.row()["written"] for item in plan.items] == [
        "Bücher.example",
        "A.example",
    ]


def test_changes_leave_out_what_is_as_specified() -> None:
    """The shorter texts count every website, and show those that are of interest."""
    first, *_ = PLAN.changes().splitlines()
    assert first == PLAN.summary() == PLAN.problems().splitlines()[0]
    for item in PLAN.items:
        assert (item in PLAN.changed) is (item.state != "present")
        assert (item.hostname in PLAN.changes()) is (item.state != "present")
        assert (item.hostname in PLAN.problems()) is not item.as_specified


def test_a_plan_becomes_a_frame() -> None:
    """A frame has a row for each website, and the same dtypes without rows."""
    pytest.importorskip("pandas")
    frame = PLAN.to_pandas()
    assert list(frame["hostname"]) == [spec.hostname for spec in SPECS]
    assert frame["label"].isna().tolist() == [True, True, False]
    empty = plan_websites([], []).to_pandas()
    assert empty.dtypes.to_dict() == frame.dtypes.to_dict()


websites = st.builds(
    website,
    st.sampled_from(["a.example", "B.example", "c.example."]),
    timezone=st.sampled_from(ZONES),
    is_public=st.booleans(),
    label=st.sampled_from([None, "", "x"]),
)
wanted = st.lists(
    st.builds(
        WebsiteSpec,
        st.sampled_from(["a.example", "b.example", "c.example", "d.example"]),
        st.sampled_from(ZONES),
        st.booleans(),
        st.sampled_from([None, "", "x"]),
    ),
    unique_by=lambda spec: spec.hostname,
)


@given(wanted, st.lists(websites, unique_by=lambda site: site.hostname))
def test_every_website_has_one_state(
    specs: list[WebsiteSpec], existing: list[Website]
) -> None:
    """Each website is in exactly one view, and has differences only if it differs."""
    plan = plan_websites(specs, existing)
    views = [*plan.to_add, *plan.present, *plan.differing]
    assert sorted(item.hostname for item in views) == sorted(
        spec.hostname for spec in specs
    )
    for item in plan.items:
        assert (item.website is None) == (item.state == "to_add")
        assert bool(item.differences) == (item.state == "differing")
        assert all(d.wanted != (d.found or "") for d in item.differences)


def test_a_client_plans_by_reading_the_list_once() -> None:
    """A read-only client can plan, with one request for the list."""
    emulator = Emulator()
    emulator.add_website("there.example", timezone="Asia/Tokyo")
    with emulator.client(read_only=True) as client:
        plan = client.websites.plan(iter(SPECS))
    assert [item.state for item in plan.items] == ["to_add", "differing", "to_add"]
    assert [request.method for request in emulator.requests] == ["GET"]
