"""Reports: the outcome of each website, as views, text, JSON and frames."""

from __future__ import annotations

import json
import pickle

import pytest

from plans import POST, report
from sitestats import WebsiteSpec
from sitestats._common.errors import (
    BadRequestError,
    ConnectionFailedError,
    RequestTimeoutError,
)
from sitestats.provisioning import Difference, ProvisionedWebsite, ProvisioningReport
from sitestats.provisioning._report import STATES

pytestmark = pytest.mark.standard_library


def test_each_website_is_in_the_view_of_its_state() -> None:
    """Each website is in exactly the view of its state."""
    whole = report()
    views = [getattr(whole, state) for state in STATES]
    assert [[item.state for item in view] for view in views] == [
        [state] for state in STATES
    ]


@pytest.mark.parametrize("state", STATES)
def test_only_what_is_as_specified_is_complete(state: str) -> None:
    """A report is complete only if each website exists without differences."""
    (item,) = getattr(report(), state)
    assert ProvisioningReport((item,)).complete == (state in {"added", "present"})
    different = ProvisionedWebsite(
        item.spec,
        "added",
        differences=(Difference("public", wanted=True, found=False),),
    )
    assert not ProvisioningReport((different,)).complete
    assert ProvisioningReport(()).complete


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
        "no endpoint of the service changes a website: change these by hand, in the "
        "website's settings in the service's dashboard"
    )
    assert repr(report()) == f"<ProvisioningReport of {report().summary()}>"
    assert str(ProvisioningReport(())) == "0 websites: nothing to do"


def test_a_report_is_a_value() -> None:
    """Reports with equal items are equal, and can be pickled with their errors."""
    assert report() == report()
    copy = pickle.loads(pickle.dumps(report()))
    assert copy == report()
    assert copy.items[3].error.status == 400
    other = ProvisionedWebsite(
        WebsiteSpec("refused.example"),
        "refused",
        error=BadRequestError("Another", status=400, request=POST),
    )
    assert report().items[3] != other
    kinds = [
        ProvisionedWebsite(WebsiteSpec("a.example"), "unknown", error=kind("No"))
        for kind in (RequestTimeoutError, ConnectionFailedError, RequestTimeoutError)
    ]
    assert [kinds[0] == one for one in kinds] == [True, False, True]


def test_a_report_becomes_json() -> None:
    """A report can be written as JSON, with the service's messages."""
    read = json.loads(json.dumps(report().to_dict()))
    assert list(read) == ["complete", "stopped", "not_excluded", "items"]
    assert read["complete"] is False
    assert read["stopped"] == "the list can't be read back: refused"
    assert read["items"][2]["differences"] == [
        {"field": "timezone", "expected": "UTC", "found": "Asia/Tokyo"}
    ]
    assert read["items"][3] == {
        "hostname": "refused.example",
        "written": "refused.example",
        "state": "refused",
        "timezone": "UTC",
        "public": False,
        "label": None,
        "differences": [],
        "error": "It is taken",
    }


def test_a_report_becomes_a_frame() -> None:
    """A frame has a row for each website, and the same dtypes without rows."""
    pytest.importorskip("pandas")
    frame = report().to_pandas()
    assert list(frame["state"]) == list(STATES)
    assert list(frame.columns) == [
        *("hostname", "written", "state", "timezone", "public", "label"),
        *("differences", "error"),
    ]
    assert frame["public"].dropna().tolist() == [False] * 3 + [True]
    assert frame["public"].isna().tolist() == [False, True, True, False, False, False]
    assert frame["error"].isna().tolist() == [True, True, True, False, False, True]
    assert frame["error"][3] == "It is taken"
    differing = "timezone is 'Asia/Tokyo' and should be 'UTC'"
    assert frame["differences"].dropna().to_dict() == {2: differing}
    empty = ProvisioningReport(()).to_pandas()
    assert empty.dtypes.to_dict() == frame.dtypes.to_dict()
