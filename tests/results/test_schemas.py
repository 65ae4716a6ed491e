"""The JSON schema of results, by which FastAPI describes an application."""

from __future__ import annotations

import json
import warnings
from typing import Any, Literal

import pytest

import sitestats
import sitestats.provisioning
import sitestats.types
from inside import FIELDS
from sitestats import (
    AddedWebsite,
    Entries,
    EventCount,
    Failed,
    HistogramEntry,
    ListEntry,
    PageEntry,
    Stats,
    StatsQuery,
    Succeeded,
    Website,
    WebsiteList,
)
from sitestats.emulator import Emulator
from sitestats.types import Change, Comparison, HourEntry, TimedPageEntry

pydantic = pytest.importorskip("pydantic")

QUERY = StatsQuery("semicomplete.com").fields(*FIELDS).all_events().last(days=3)


def results() -> list[tuple[Any, Any]]:
    """A type and a result of it."""
    client = Emulator.demo().client()
    failing = QUERY.website("nobody.example")
    outcomes = client.stats.get_many([QUERY, failing]).collect()
    stats = outcomes[0].result()
    hours = client.stats.get(QUERY.interval("hour")).histogram
    websites = client.websites.list()
    return [
        (Stats, stats),
        (Stats[Literal["visitors", "pages"]], stats),
        (Succeeded[Literal["visitors"]], outcomes[0]),
        (Failed, outcomes[1]),
        (Entries, stats.events),
        (Entries[PageEntry], stats.pages),
        (Entries[HistogramEntry], hours),
        (TimedPageEntry, stats.pages[0]),
        (ListEntry, stats.countries[0]),
        (HourEntry, hours[0]),
        (EventCount, stats.events[0]),
        (WebsiteList, websites),
        (Website, websites[0]),
        (AddedWebsite, client.websites.add("new.example")),
        (Comparison, Comparison(stats, stats)),
        (Change, Change(3, 2)),
    ]


@pytest.mark.parametrize(("kind", "result"), results(), ids=lambda one: str(one)[:40])
def test_json_is_as_its_schema_says(kind: Any, result: Any) -> None:
    """Each value is of its type, and all that ``to_dict`` has is there."""
    adapter = pydantic.TypeAdapter(dict[str, kind])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = json.loads(adapter.dump_json({"one": result}))["one"]
    if hasattr(result, "to_dict"):
        assert made == json.loads(json.dumps(result.to_dict()))
    else:
        assert made == [one.to_dict() for one in result]
    schema = adapter.json_schema(mode="serialization")
    assert schema == adapter.json_schema(mode="validation")
    assert "properties" in json.dumps(schema) or kind in {Comparison, Change}


def test_a_schema_has_the_requested_fields() -> None:
    """They are required, with their nulls, and other ones are not named."""
    kind = Stats[Literal["pages", "seconds_on_page"]]
    schema = pydantic.TypeAdapter(kind).json_schema(mode="serialization")
    assert schema["title"] == "StatsOfPagesAndSecondsOnPage"
    assert {"pages", "seconds_on_page", "hostname"} <= {*schema["required"]}
    assert "visitors" not in schema["properties"]
    types = [one["type"] for one in schema["properties"]["seconds_on_page"]["anyOf"]]
    assert types == ["number", "null"]
    both = pydantic.TypeAdapter(Stats).json_schema(mode="serialization")
    assert {*FIELDS, "events"} <= both["properties"].keys() - {*both["required"]}


@pytest.mark.parametrize(
    ("kind", "entry"),
    [
        *results()[7:11],
        *results()[12:14],
        (PageEntry, results()[7][1]),
        (HistogramEntry, results()[9][1]),
    ],
    ids=lambda one: str(one)[:40],
)
def test_entries_and_websites_are_read_from_their_json(kind: Any, entry: Any) -> None:
    """As the body of a request, too; other JSON is refused with its place."""
    adapter = pydantic.TypeAdapter(kind)
    assert adapter.validate_json(adapter.dump_json(entry)) == entry
    assert adapter.validate_python(entry) is entry
    for wrong in ({}, {"value": 5}, None, [entry.to_dict()]):
        with pytest.raises(ValueError, match="validation error"):
            adapter.validate_python(wrong)


def test_every_public_result_is_a_type_for_pydantic() -> None:
    """As a field, in a list and in a dict."""
    names = "Problem Website AddedWebsite WebsiteList Stats Entries Outcomes Failed"
    others = "TimedListEntry WeekEntry Change EntryChange Changes Comparisons"
    found = [getattr(sitestats, name) for name in names.split()]
    found += [getattr(sitestats.types, name) for name in others.split()]
    for name in ("ProvisionedWebsite", "ProvisioningReport", "Difference"):
        found.append(getattr(sitestats.provisioning, name))
    for kind in found:
        pydantic.TypeAdapter(list[kind])
        pydantic.TypeAdapter(dict[str, kind])
