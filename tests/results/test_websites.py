"""The list of websites: frames of it, slices of it, and its websites as dicts."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from datetime import UTC, datetime

import attrs
import polars as pl
import pytest

from sitestats import Website, WebsiteList
from sitestats.emulator import Emulator

NOW = datetime(2026, 3, 5, 20, tzinfo=UTC)


@pytest.fixture(scope="module")
def websites() -> Iterator[WebsiteList]:
    """Three websites, as the service lists them."""
    with Emulator.demo(now=NOW).client() as client:
        yield client.websites.list()


NAMES = [
    *("hostname", "is_public", "timezone", "has_ssl", "has_script", "own_hostname"),
    *("label", "pageviews", "events"),
]


def test_frames_have_the_documents_values(websites: WebsiteList) -> None:
    """A frame has a row for each website and the nine values, with their types."""
    frame = websites.to_polars()
    assert dict(frame.schema) == {
        **dict.fromkeys(NAMES, pl.String),
        **dict.fromkeys(("is_public", "has_ssl", "has_script"), pl.Boolean),
        **dict.fromkeys(("pageviews", "events"), pl.Int64),
    }
    assert WebsiteList().to_polars().schema == frame.schema
    assert frame["hostname"].to_list() == [one.hostname for one in websites]
    assert list(websites.to_pandas().columns) == NAMES
    assert websites.to_arrow().column_names == NAMES


def test_a_slice_is_a_list(websites: WebsiteList) -> None:
    """A slice is shown and framed like the list, and an index gives a website; so does
    a pickle, and each knows when the service responded, by its ``Date``.
    """
    part = websites[1:]
    assert isinstance(websites[0], Website)
    assert [*part] == [*websites][1:]
    assert f">{websites[0].hostname}<" not in part._repr_html_()
    assert part[0].hostname in part._repr_html_()
    assert part.to_pandas()["hostname"].tolist() == [one.hostname for one in part]
    again = pickle.loads(pickle.dumps(part))
    assert again == part
    for one in (websites, part, again):
        assert isinstance(one, WebsiteList)
        assert one.responded_at == NOW
    assert WebsiteList().responded_at is None


def test_a_website_as_a_dict(websites: WebsiteList) -> None:
    """A website is plain JSON with the document's names, and what else was sent."""
    website = attrs.evolve(websites[0], label=None, extra={"new": [1]})
    values = website.to_dict()
    assert list(values) == [*NAMES, "problems", "extra"]
    assert json.loads(json.dumps(values)) == values
    assert (values["label"], values["extra"]) == (None, {"new": [1]})
    assert websites.to_dicts() == [one.to_dict() for one in websites]
