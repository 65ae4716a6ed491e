"""Lists that are written, and read back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from same_text import SameText
from sitestats import SpecError, WebsiteSpec
from sitestats._common.text import as_cell_text
from sitestats._common.zones import zone_names
from sitestats.emulator import Emulator
from sitestats.provisioning._csv import without_text_mark
from sitestats.provisioning._dump import FORMATS
from website_lists import load

pytestmark = pytest.mark.standard_library


def test_a_saved_list_is_read_word_for_word() -> None:
    """The list of the service has marks of its own labels, and nothing is ignored."""
    columns = "hostname,is_public,timezone,has_ssl,has_script,own_hostname,label,"
    columns += "pageviews,events"
    row = "a.example,true,UTC,true,true,,'=x,1,2"
    wanted = (WebsiteSpec("a.example", "UTC", public=True, label="'=x"),)
    assert load(f"{columns}\n{row}\n") == (wanted, [])
    values = dict(zip(columns.split(","), row.split(","), strict=True))
    listed = {**values, "is_public": True, "extra": {}}
    assert load(json.dumps([listed]), "json") == (wanted, [])
    assert load(json.dumps([listed]), "json", ignore_columns=True) == (wanted, [])


labels = st.text(
    st.characters(codec="utf-8") | st.sampled_from("'=+-@,;\"\r\n\t\x00\x7f \ufeff"),
    max_size=8,
)


@given(labels)
@example("'x'")
@example("''=x;'-y;'z")
def test_a_text_that_is_marked_for_a_spreadsheet_is_read_back(text: str) -> None:
    """The mark that keeps a spreadsheet from running a text is left out again."""
    marked = as_cell_text(text)
    assert without_text_mark(marked) == text
    assert not any(
        part.lstrip(" ")[:1] in set("=+-@\uff1d\uff0b\uff0d\uff20") and part.strip(" ")
        for part in marked.split(";")
    )


@given(
    st.lists(
        st.builds(
            WebsiteSpec,
            st.sampled_from(["a.example", "müller.example", "B.example"]),
            st.none() | st.sampled_from(sorted(zone_names())),
            public=st.none() | st.booleans(),
            label=labels.filter(bool) | st.none(),
            accept_differing=st.booleans(),
        ),
        min_size=1,
        max_size=4,
        unique_by=lambda spec: spec.hostname,
    ),
    st.sampled_from(["csv", "json", "toml"]),
)
def test_what_is_dumped_is_read_back(specs: list[WebsiteSpec], form: Any) -> None:
    """Specifications that were written are the same when they are read."""
    if form == "csv" and any("\0" in (spec.label or "") for spec in specs):
        with pytest.raises(SpecError, match="NUL"):
            WebsiteSpec.dumps(specs, form)
        return
    text = WebsiteSpec.dumps(specs, form)
    read, notes = load(text, form)
    assert (read, notes) == (tuple(specs), [])


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["UTC", "Asia/Tokyo"]),
            st.booleans(),
            labels.filter(lambda label: "\0" not in label),
        ),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from(["csv", "json", "toml"]),
)
def test_a_plan_of_what_is_there_has_nothing_to_do(
    websites: list[tuple[str, bool, str]], form: Any
) -> None:
    """The service's list, written as specifications, is what a plan wants."""
    emulator = Emulator()
    for number, (timezone, public, label) in enumerate(websites):
        emulator.add_website(
            f"w{number}.example", timezone=timezone, public=public, label=label
        )
    with emulator.client() as client:
        listed = [WebsiteSpec.of(website) for website in client.websites.list()]
        specs, notes = load(WebsiteSpec.dumps(listed, form), form)
        assert client.websites.plan(specs).complete
    assert len(specs) == len(websites)
    assert notes == []


def test_the_texts_that_are_dumped(same_text: SameText) -> None:
    """The three formats are as people would write them, one website a line or block."""
    specs = [
        WebsiteSpec("a.example", "Asia/Tokyo", public=True, label='=1,"ü"\x7fé;-\n'),
        WebsiteSpec("b.example", label=" x"),
        WebsiteSpec("c.example", label="a b"),
        WebsiteSpec("d.example", label="a;b", public=False, accept_differing=True),
    ]
    for form in FORMATS:
        same_text(WebsiteSpec.dumps(specs, form))
        same_text(WebsiteSpec.dumps(specs[:1], form))
        assert load(WebsiteSpec.dumps(specs, form), form)[0] == tuple(specs)


def test_what_can_t_be_dumped(same_text: SameText) -> None:
    """A label that CSV can't have, and an unknown format, are errors."""
    for label in ("", "a\0"):
        with pytest.raises(SpecError, match="write JSON or TOML") as caught:
            WebsiteSpec.dumps([WebsiteSpec("a.example", label=label)])
        same_text(caught.value)
    with pytest.raises(SpecError, match="toml, json, csv") as caught:
        WebsiteSpec.dumps([], "xlsx")  # type: ignore[arg-type]  # that is the point
    same_text(caught.value)
