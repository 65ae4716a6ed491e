"""Entries and their container."""

from __future__ import annotations

import copy
import datetime as dt
import json
import pickle
from collections.abc import Sequence
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from displayed import pages_of
from sitestats import Entries, EventCount, FieldNotRequestedError, ListEntry, PageEntry
from sitestats._results.entries import Entry, TimedListEntry, TimedPageEntry
from sitestats._results.histogram import HistogramEntry

Timed: Any = TimedPageEntry
TIMED, UNTIMED = Timed("/", 3, 2, 12.5), Timed("/", 3, 2, None)
ENTRIES: list[Entry] = [
    ListEntry("NL", 3, 2),
    ListEntry(None, 3, 2),
    TimedListEntry("NL", 3, 2, 12.5),  # type: ignore[call-arg]  # hidden from checkers
    PageEntry("/", 3, 2),
    *(TIMED, UNTIMED),
    EventCount("signup", 7),
]


@pytest.mark.parametrize("entry", ENTRIES, ids=repr)
def test_entries_are_values(entry: Entry) -> None:
    """Every kind of entry pickles, copies, hashes, compares and becomes JSON; none can
    be changed, and none has a dict of its own.
    """
    for other in (pickle.loads(pickle.dumps(entry)), copy.deepcopy(entry)):
        assert other == entry
        assert hash(other) == hash(entry)
    assert entry != "NL"
    assert tuple(json.loads(json.dumps(entry.to_dict()))) == entry.columns
    with pytest.raises(AttributeError, match="immutable"):
        entry.value = "/other"  # type: ignore[attr-defined]  # the point
    assert not hasattr(entry, "__dict__")
    assert not hasattr(entry, "__weakref__")


def test_seconds_are_there_where_they_were_requested() -> None:
    """Unknown ones are None; without a request the error says which field to add, of
    one entry and of a list.
    """
    assert (TIMED.seconds_on_page, UNTIMED.seconds_on_page) == (12.5, None)
    for entry in (ListEntry("NL", 3, 2), PageEntry("/", 3, 2)):
        with pytest.raises(FieldNotRequestedError, match=r"\.fields") as caught:
            _ = entry.seconds_on_page
        assert caught.value.name == "seconds_on_page"
        assert not hasattr(entry, "seconds_on_page")
    for name in ("seconds_on_page", "pageview", "_items"):
        with pytest.raises(FieldNotRequestedError, match="value, pageviews, vis") as no:
            pages_of("/").column(name)
        assert no.value.name == name


def test_the_container_is_like_a_sequence() -> None:
    """It has length, order and items, but data frames must not take it for a list."""
    container = pages_of("/", "/a", "/b")
    assert len(container) == 3
    assert [page.value for page in container] == ["/", "/a", "/b"]
    assert container[-1] == PageEntry("/b", 9, 3)
    assert PageEntry("/a", 9, 3) in container
    assert [page.value for page in reversed(container)] == ["/b", "/a", "/"]
    assert container
    assert not pages_of()
    assert not isinstance(container, Sequence)
    with pytest.raises(IndexError):
        _ = container[3]


def test_an_entry_is_found_by_its_value() -> None:
    """What is not there is an error with a suggestion, and so is a name of several."""
    countries = Entries(
        [ListEntry(None, 9, 9), ListEntry("NL", 3, 2), ListEntry("DE", 2, 2)],
        name="countries",
        entry_type=ListEntry,
    )
    assert countries["NL"].pageviews == 3
    with pytest.raises(KeyError, match="did you mean 'NL'"):
        _ = countries["nl"]
    events = Entries([EventCount("signup", 7)], name="events", entry_type=EventCount)
    assert events["signup"].total == 7
    days = [HistogramEntry(dt.date(2026, 3, day), day, 2) for day in (1, 2, 2)]
    histogram = Entries(days, name="histogram", entry_type=HistogramEntry)
    assert histogram["2026-03-01"].pageviews == 1
    with pytest.raises(KeyError, match="2 are '2026-03-02': take one by its place"):
        _ = histogram["2026-03-02"]


@given(st.lists(st.text(max_size=2), max_size=5), st.data())
def test_a_slice_is_a_container(values: list[str], data: st.DataObject) -> None:
    """A slice keeps type, name and mark, and selects as lists do."""
    part = data.draw(st.slices(len(values)))
    sliced = pages_of(*values, truncated=True)[part]
    assert [page.value for page in sliced] == values[part]
    assert (sliced.name, sliced.truncated) == ("pages", True)
    assert sliced.entry_type is PageEntry


def test_containers_are_values() -> None:
    """Containers of equal entries are equal, and can be pickled and hashed; an empty
    one has its columns.
    """
    container = pages_of("/", "/a")
    assert container == pages_of("/", "/a", truncated=True)
    assert container != pages_of("/")
    assert container != [*container]
    again = pickle.loads(pickle.dumps(container))
    assert (again, again.name, again.entry_type) == (container, "pages", PageEntry)
    assert hash(again) == hash(container)
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        container.truncated = True  # type: ignore[misc]  # the point
    empty: Entries[PageEntry] = Entries(name="pages", entry_type=TimedPageEntry)
    assert empty.columns == ("value", "pageviews", "visitors", "seconds_on_page")
    assert empty.column("pageviews") == []


def test_the_repr_is_a_short_table() -> None:
    """A notebook's neighbour is the plain console, which shows ten rows too."""
    shown = repr(pages_of("/")).splitlines()
    assert shown == ["pages", "   page views  visitors", "/           9         3"]
    lines = repr(pages_of(*map(str, range(1000)), truncated=True)).splitlines()
    assert len(lines) == 13
    assert lines[-1].startswith("… 990 more; cut by the limit")
    first = dt.date(2026, 1, 1)
    days = [HistogramEntry(first + dt.timedelta(n), 3, 2) for n in range(300)]
    histogram = Entries(days, name="histogram", entry_type=HistogramEntry)
    assert repr(histogram).splitlines()[-1] == "… 290 more"
