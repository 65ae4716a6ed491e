"""Entries and their container."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Sequence

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from same_text import SameText
from sitestats._common.errors import FieldNotRequestedError
from sitestats._results.entries import (
    Entries,
    Entry,
    EventCount,
    IncompleteListEntry,
    IncompletePageEntry,
    IncompleteTimedPageEntry,
    ListEntry,
    PageEntry,
    TimedListEntry,
    TimedPageEntry,
)

ALL_KINDS: list[Entry] = [
    ListEntry("NL", 3, 2),
    ListEntry(None, 3, 2),
    TimedListEntry("NL", 3, 2, 12.5),  # type: ignore[call-arg]  # hidden from checkers
    PageEntry("/", 3, 2),
    TimedPageEntry("/", 3, 2, None),  # type: ignore[call-arg]  # hidden from checkers
    EventCount("signup", 7),
    IncompleteListEntry({"value": "NL"}),
    IncompletePageEntry({"pageviews": 3, "visitors": 2}),
    IncompleteTimedPageEntry({"value": "/", "seconds_on_page": None}),
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
def test_entries_are_frozen_and_small(entry: Entry, same_text: SameText) -> None:
    """No entry can be changed, and none has a dict of its own."""
    with pytest.raises(attrs.exceptions.FrozenInstanceError) as caught:
        entry.value = "/other"  # type: ignore[attr-defined]  # the point
    same_text(caught.value)
    assert not hasattr(entry, "__dict__")
    assert not hasattr(entry, "__weakref__")


@pytest.mark.parametrize(
    "entry", [ListEntry("NL", 3, 2), PageEntry("/", 3, 2)], ids=repr
)
def test_seconds_that_were_not_requested_raise_by_name(
    entry: ListEntry | PageEntry,
    same_text: SameText,
) -> None:
    """The error says which field to add, and is an AttributeError."""
    with pytest.raises(FieldNotRequestedError, match=r"\.fields") as caught:
        _ = entry.seconds_on_page
    same_text(caught.value)
    assert caught.value.name == "seconds_on_page"
    assert not hasattr(entry, "seconds_on_page")


def test_seconds_that_were_requested_may_be_none() -> None:
    """Seconds that were requested and are unknown are None, and reading them works."""
    assert TimedPageEntry("/", 3, 2).seconds_on_page is None
    assert TimedPageEntry("/", 3, 2, 12.5).seconds_on_page == 12.5  # type: ignore[call-arg]  # hidden from checkers
    assert isinstance(TimedPageEntry("/", 3, 2), PageEntry)


def test_what_an_entry_lacks_raises_by_name(same_text: SameText) -> None:
    """A missing count raises when it is read, and is None in tables."""
    entry = IncompletePageEntry({"value": "/contact"})
    assert isinstance(entry, PageEntry)
    assert entry.value == "/contact"
    with pytest.raises(FieldNotRequestedError, match="'/contact'") as caught:
        _ = entry.visitors
    same_text(caught.value)
    assert caught.value.name == "visitors"
    with pytest.raises(FieldNotRequestedError) as caught:
        _ = IncompletePageEntry({}).visitors
    same_text(caught.value)
    assert getattr(entry, "pageviews", None) is None
    assert entry.get("pageviews") is None
    assert entry.to_dict() == {"value": "/contact", "pageviews": None, "visitors": None}


def test_an_incomplete_entry_knows_whether_seconds_were_requested(
    same_text: SameText,
) -> None:
    """Only the error about seconds that were not requested says to request them."""
    with pytest.raises(FieldNotRequestedError, match=r"\.fields") as caught:
        _ = IncompletePageEntry({"value": "/"}).seconds_on_page
    same_text(caught.value)
    timed = IncompleteTimedPageEntry({"value": "/", "seconds_on_page": None})
    assert timed.seconds_on_page is None


def test_entries_of_different_kinds_differ() -> None:
    """A page and a country with equal values are not equal."""
    assert ListEntry("NL", 3, 2) != PageEntry("NL", 3, 2)
    assert PageEntry("/", 3, 2) != TimedPageEntry("/", 3, 2)
    assert IncompletePageEntry({"value": "/"}) != PageEntry("/", 3, 2)


def test_the_container_is_like_a_sequence(same_text: SameText) -> None:
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
    with pytest.raises(IndexError) as caught:
        _ = container[3]
    same_text(caught.value)


@given(st.lists(st.text(max_size=2), max_size=5), st.data())
def test_a_slice_is_a_container(values: list[str], data: st.DataObject) -> None:
    """A slice keeps type, name and mark, and selects as lists do."""
    container = pages(*values, truncated=True)
    part = data.draw(st.slices(len(values)))
    sliced = container[part]
    assert [page.value for page in sliced] == values[part]
    assert (sliced.name, sliced.truncated) == ("pages", True)
    assert sliced.entry_type is PageEntry


def test_containers_are_values(same_text: SameText) -> None:
    """Containers of equal entries are equal, and can be pickled and hashed."""
    container = pages("/", "/a")
    assert container == pages("/", "/a", truncated=True)
    assert container != pages("/")
    assert container != [*container]
    again = pickle.loads(pickle.dumps(container))
    assert (again, again.name, again.entry_type) == (container, "pages", PageEntry)
    assert hash(again) == hash(container)
    with pytest.raises(attrs.exceptions.FrozenInstanceError) as caught:
        container.truncated = True  # type: ignore[misc]  # the point
    same_text(caught.value)


def test_the_list_that_a_container_was_made_of_may_change() -> None:
    """Changing the list that a container was made of does not change the container."""
    entries = [PageEntry("/", 3, 2)]
    container = Entries(entries, name="pages", entry_type=PageEntry)
    entries.clear()
    assert len(container) == 1


def test_columns_are_there_without_entries() -> None:
    """An empty container still has its columns, with seconds if requested."""
    assert pages().columns == ("value", "pageviews", "visitors")
    assert pages().column("pageviews") == []
    timed: Entries[PageEntry] = Entries([], name="pages", entry_type=TimedPageEntry)
    assert timed.columns == ("value", "pageviews", "visitors", "seconds_on_page")


def test_a_column_holds_none_for_what_is_lacking() -> None:
    """A missing count is None in its column, and the others stay."""
    container = Entries(
        [PageEntry("/", 3, 2), IncompletePageEntry({"value": "/a"})],
        name="pages",
        entry_type=PageEntry,
    )
    assert container.column("pageviews") == [3, None]
    assert container.to_dicts()[1] == {
        "value": "/a",
        "pageviews": None,
        "visitors": None,
    }


@pytest.mark.parametrize("name", ["seconds_on_page", "pageview", "_items"])
def test_an_unknown_column_is_refused_by_name(name: str, same_text: SameText) -> None:
    """A column that no entry has is refused by name."""
    with pytest.raises(FieldNotRequestedError) as caught:
        pages("/").column(name)
    same_text(caught.value)
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
