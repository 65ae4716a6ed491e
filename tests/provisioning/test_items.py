"""What plans and reports share: views, rows, columns and short texts."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plans import PLAN, report, website
from sitestats import MissingExtraError, Website, WebsiteSpec
from sitestats.provisioning import ProvisioningReport
from sitestats.provisioning._plan import plan_websites

pytestmark = pytest.mark.standard_library


ZONES = ["UTC", "Asia/Tokyo"]


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
        st.sampled_from([*ZONES, None]),
        st.sampled_from([True, False, None]),
        st.sampled_from([None, "", "x"]),
        accept_differing=st.booleans(),
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
        # What a specification leaves out is not compared.
        assert all(d.wanted == getattr(item.spec, d.name) for d in item.differences)
        accepted = item.spec.accept_differing or not item.differences
        assert item.as_specified is (item.state != "to_add" and accepted)
    lines = plan.problems().splitlines()
    assert ("by hand" in lines[-1]) is any(
        item.differences and not item.as_specified for item in plan.items
    )


def test_a_table_has_what_needs_attention_first() -> None:
    """A shortened table keeps the websites that are not as specified, and its note."""
    table = report()._displayed()
    rows = [*zip(*(column.cells for column in table.columns), strict=True)]
    assert [row[0] for row in rows] == [
        *("differing.example", "refused.example", "unknown.example"),
        *("not-tried.example", "added.example", "present.example"),
    ]
    assert rows[3] == ("not-tried.example", "not tried", "UTC", True, "x", None)
    assert table.title == report().summary()
    names = ["", "state", "timezone", "public", "label", ""]
    assert [column.name for column in table.columns] == names
    stopped, by_hand = table.note.split("; ")
    assert stopped == "stopped: the list can't be read back: refused"
    assert "by hand" in by_hand
    (whole,) = (one for one in report().items if one.state == "present")
    assert ProvisioningReport((whole,))._displayed().note == ""


def test_without_pandas_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error without pandas names the extra to install."""
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"sitestats\[pandas\]"):
        report().to_pandas()
