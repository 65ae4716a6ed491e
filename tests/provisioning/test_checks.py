"""Websites of a list: repeated rows, and what contradicts itself."""

from __future__ import annotations

import pytest

from same_text import SameText
from sitestats import SpecError, WebsiteSpec
from sitestats.provisioning._specs import as_specs
from website_lists import load

pytestmark = pytest.mark.standard_library


def test_a_row_that_is_repeated_counts_once(same_text: SameText) -> None:
    """Equal rows are merged with a note that has both places; the first one stays."""
    rows = ["hostname,public,label,accept_differing", "a.example,,x", "b.example,no"]
    rows += ["A.Example.,0,x,no", *["b.example"] * 5]
    specs, (note,) = load("\n".join(rows))
    assert specs == (
        # What the first row leaves out is as the second one says.
        WebsiteSpec("a.example", public=False, label="x", accept_differing=False),
        WebsiteSpec("b.example", public=False),
    )
    same_text(note)
    assert "count once (6 times)" in note
    assert "a.example (list:4:1 and list:2:1)" in note
    assert note.endswith("and 1 more")


def test_rows_that_differ_in_one_value_are_refused() -> None:
    """Whatever it is in which two rows differ, none of them is chosen."""
    rows = [
        "hostname,timezone,public,label",
        "a.example,,,",
        "b.example,,,",
        "c.example",
    ]
    rows += ["a.example,Asia/Tokyo,,", "b.example,,yes,", "c.example,,,x"]
    with pytest.raises(SpecError) as caught:
        load("\n".join(rows))
    found = [problem.message.partition(" (")[2] for problem in caught.value.problems]
    assert [text.partition(")")[0] for text in found] == [
        "timezone is 'Asia/Tokyo' here and 'UTC' there",
        "public is true here and false there",
        "label is 'x' here and not set there",
    ]
    assert {problem.rule for problem in caught.value.problems} == {"website-once"}


def test_every_wrong_value_is_reported(same_text: SameText) -> None:
    """The error has every problem of a specification, not only the first."""
    with pytest.raises(SpecError) as caught:
        WebsiteSpec("", timezone="", public=0, label=b"")  # type: ignore[arg-type]  # that is the point
    same_text(caught.value)
    places = [problem.where for problem in caught.value.problems]
    assert places == ["hostname", "timezone", "public", "label"]


def test_a_website_given_twice_is_refused(same_text: SameText) -> None:
    """Host names that differ in case or a trailing dot are refused as duplicates."""
    names = ["a.example", "b.example", "A.Example", "b.example."]
    with pytest.raises(SpecError) as caught:
        as_specs(map(WebsiteSpec, names))
    same_text(caught.value)
    assert [problem.where for problem in caught.value.problems] == [
        "specs[2]",
        "specs[3]",
    ]
    assert "specs[0]" in caught.value.problems[0].message
    assert {problem.rule for problem in caught.value.problems} == {"website-once"}
