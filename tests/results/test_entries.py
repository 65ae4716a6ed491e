"""Entries and their container."""

from __future__ import annotations

import copy
import datetime as dt
import json
import pickle
from collections.abc import Sequence

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitestats._common.errors import FieldNotRequestedError
from sitestats._results.entries import (
    Entries,
    Entry,
    EventCount,
    ListEntry,
    PageEntry,
    TimedListEntry,
    TimedPageEntry,
)
from sitestats._results.histogram import HistogramEntry

ALL_KINDS: list[Entry] = [
    ListEntry("NL", 3, 2),
    ListEntry(None, 3, 2),
    TimedListEntry("NL", 3, 2, 12.5),  # type: ignore[call-arg]  # hidden from checkers
    PageEntry("/", 3, 2),
    TimedPageEntry("/", 3, 2, None),  # type: ignore[call-arg]  # hidden from checkers
    EventCount("signup", 7),
]


def pages(*values: str, truncated: bool = False) -> Entries[PageEntry]:
    """A container of pages with these paths."""
    return Entries(
        [PageEntry(value, 3, 2) for value in values],
        name="pages",
        entry_type=PageEntry,
        truncated=truncated,
    )


@pytest.mark.parametrize("entry", ALL_KINDS, ids=repr)
def test_entries_are_values(entry: Entry) -> None:
    """Every kind of entry pickles, copies, hashes, compares and becomes JSON."""
    for other in (pickle.loads(pickle.dumps(entry)), copy.deepcopy(entry)):
        assert other == entry
        assert hash(other) == hash(entry)
    assert entry != "NL"
    assert tuple(json.loads(json.dumps(entry.to_dict()))) == entry.columns
    assert repr(entry).startswith(("ListEntry(", "PageEntry(", "EventCount("))


@pytest.mark.parametrize("entry", ALL_KINDS, ids=repr)
def test_entries_are_frozen_and_small(entry: Entry) -> None:
    """No entry can be changed, and none has a dict of its own."""
    with pytest.raises(AttributeError, match="immutable"):
        entry.value = "/other"  # type: ignore[attr-defined]  # the point
    assert not hasattr(entry, "__dict__")
    assert not hasattr(entry, "__weakref__")


@pytest.mark.parametrize(
    "entry", [ListEntry("NL", 3, 2), PageEntry("/", 3, 2)], ids=repr
)
def test_seconds_that_were_not_requested_raise_by_name(
    entry: ListEntry | PageEntry,
) -> None:
    """The error says which field to add, and is an AttributeError."""
    with pytest.raises(FieldNotRequestedError, match=r"\.fields") as caught:
        _ = entry.seconds_on_page
    assert caught.value.name == "seconds_on_page"
    assert not hasattr(entry, "seconds_on_page")


def test_seconds_that_were_requested_may_be_none() -> None:
    """Seconds that were requested and are unknown are None, and reading them works."""
    assert TimedPageEntry("/", 3, 2, None).seconds_on_page is None  # type: ignore[call-arg]  # hidden from checkers
    assert TimedPageEntry("/", 3, 2, 12.5).seconds_on_page == 12.5  # type: ignore[call-arg]  # hidden from checkers
    assert issubclass(TimedPageEntry, PageEntry)


def test_the_container_is_like_a_sequence() -> None:
    """It has length, order and items, but data frames must not take it for a list."""
    container = pages("/", "/a", "/b")
    assert len(container) == 3
    assert [page.value for page in container] == ["/", "/a", "/b"]
    assert container[0].value == "/"
    assert container[-1] == PageEntry("/b", 3, 2)
    assert PageEntry("/a", 3, 2) in container
    assert "/a" not in container
    assert [page.value for page in reversed(container)] == ["/b", "/a", "/"]
    assert container
    assert not pages()
    assert not isinstance(container, Sequence)
    with pytest.raises(IndexError):
        _ = container[3]


def test_an_entry_is_found_by_its_value() -> None:
    """The first one of it; what is not there is an error with a suggestion."""
    countries = Entries(
        [ListEntry(None, 9, 9), ListEntry("NL", 3, 2), ListEntry("DE", 2, 2)],
        name="countries",
        entry_type=ListEntry,
        truncated=True,
    )
    assert countries["NL"].pageviews == 3
    events = Entries([EventCount("signup", 7)], name="events", entry_type=EventCount)
    assert events["signup"].total == 7
    with pytest.raises(KeyError, match=r"cut by the limit.*did you mean 'NL'"):
        _ = countries["nl"]
    days = Entries(
        [HistogramEntry(dt.date(2026, 3, 1), 3, 2)],
        name="histogram",
        entry_type=HistogramEntry,
    )
    with pytest.raises(KeyError, match="by their place"):
        _ = days["2026-03-01"]


@given(st.lists(st.text(max_size=2), max_size=5), st.data())
def test_a_slice_is_a_container(values: list[str], data: st.DataObject) -> None:
    """A slice keeps type, name and mark, and selects as lists do."""
    container = pages(*values, truncated=True)
    part = data.draw(st.slices(len(values)))
    sliced = container[part]
    assert [page.value for page in sliced] == values[part]
    assert (sliced.name, sliced.truncated) == ("pages", True)
    assert sliced.entry_type is PageEntry


def test_containers_are_values() -> None:
    """Containers of equal entries are equal, and can be pickled and hashed."""
    container = pages("/", "/a")
    assert container == pages("/", "/a", truncated=True)
    assert container != pages("/")
    assert container != [*container]
    again = pickle.loads(pickle.dumps(container))
    assert (again, again.name, again.entry_type) == (container, "pages", PageEntry)
    assert hash(again) == hash(container)
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        container.truncated = True  # type: ignore[misc]  # the point


def test_columns_are_there_without_entries() -> None:
    """An empty container still has its columns, with seconds if requested."""
    assert pages().columns == ("value", "pageviews", "visitors")
    assert pages().column("pageviews") == []
    timed: Entries[PageEntry] = Entries([], name="pages", entry_type=TimedPageEntry)
    assert timed.columns == ("value", "pageviews", "visitors", "seconds_on_page")


@pytest.mark.parametrize("name", ["seconds_on_page", "pageview", "_items"])
def test_an_unknown_column_is_refused_by_name(name: str) -> None:
    """A column that no entry has is refused by name."""
    with pytest.raises(FieldNotRequestedError) as caught:
        pages("/").column(name)
    assert caught.value.name == name


def test_the_repr_is_short() -> None:
    """The repr shows three entries, and the number of the others."""
    shown = repr(pages(*map(str, range(1000)), truncated=True))
    assert "PageEntry(value='2', pageviews=3, visitors=2), … 997 more" in shown
    assert shown.endswith("name='pages', truncated=True)")
    assert len(shown) < 300
    assert repr(pages("/")) == (
        "Entries([PageEntry(value='/', pageviews=3, visitors=2)], name='pages')"
    )
