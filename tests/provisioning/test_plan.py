"""Plans: which websites would be added, exist as specified, or differ."""

from __future__ import annotations

import json
import pickle

import pytest

from plans import PLAN, SPECS
from sitestats.emulator import Emulator
from sitestats.provisioning._plan import plan_websites

pytestmark = pytest.mark.standard_library


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


def test_a_client_plans_by_reading_the_list_once() -> None:
    """A read-only client can plan, with one request for the list."""
    emulator = Emulator()
    emulator.add_website("other.example", timezone="Asia/Tokyo")
    with emulator.client(read_only=True) as client:
        plan = client.websites.plan(iter(SPECS))
    assert [item.state for item in plan.items] == ["to_add", "to_add", "differing"]
    assert [request.method for request in emulator.requests] == ["GET"]
