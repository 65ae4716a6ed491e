"""How far a website is, and its cursor as JSON, against a plain set of days."""

from __future__ import annotations

import datetime as dt
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitestats.warehouse import Coverage
from sitestats.warehouse._coverage import NOT_LISTED
from sitestats.warehouse._held import DAY, Held

pytestmark = pytest.mark.once

FIRST = dt.date(2026, 1, 1)
DAYS = [FIRST + n * DAY for n in range(30)]
WANTED = frozenset({"pages"})
OF_DAYS = st.dictionaries(
    st.sampled_from(DAYS),
    st.frozensets(st.sampled_from(["pages", "events", "seconds_on_page"])),
)


@st.composite
def coverages(draw: st.DrawFn) -> Coverage:
    """A website of which any days are there, and any have failed."""
    held, old = Held(), Held()
    for day, lists in draw(OF_DAYS).items():
        held.put(day, lists)
    for day, lists in draw(OF_DAYS).items():
        old.put(day, lists)
    return Coverage(
        first=FIRST,
        held=held.parts,
        failed=tuple(draw(st.lists(st.sampled_from(DAYS), unique=True))),
        timezone=draw(st.sampled_from(["UTC", "Asia/Tokyo"])),
        lists=WANTED,
        totals=draw(
            st.dictionaries(
                st.sampled_from(DAYS), st.tuples(st.integers(0), st.integers(0))
            )
        ),
        old=old.parts,
        error=draw(st.none() | st.text() | st.just(NOT_LISTED)),
        lasting=draw(st.booleans()),
        checked_at=draw(st.none() | st.datetimes(timezones=st.just(dt.UTC))),
    )


@given(coverages())
def test_a_cursor_survives_json(cursor: Coverage) -> None:
    """A destination gives back what an update has stored."""
    assert Coverage.from_state(json.loads(json.dumps(cursor.to_state()))) == cursor


@given(coverages(), st.sampled_from(DAYS))
def test_what_is_missing_is_that_of_a_set_of_days(
    cursor: Coverage, last: dt.date
) -> None:
    """A day is there if each wanted list is; up to ``through`` nothing is missing."""
    held = Held(cursor.held)
    there = {day for day in DAYS if (held.lists_of(day) or frozenset()) >= WANTED}
    there -= {*cursor.failed}
    tried = {day for day in DAYS if held.lists_of(day) is not None} | {*cursor.failed}
    assert cursor.reached == max(tried, default=FIRST - DAY)
    missing = {day for day in DAYS if day <= cursor.reached} - there
    assert {*cursor.missing} == missing
    assert len(cursor.missing) == len(missing)
    assert cursor.missing[len(missing) - len(cursor.failed) :] == cursor.failed
    assert cursor.behind(last) == len({day for day in DAYS if day <= last} - there)
    through = min(missing, default=cursor.reached + DAY) - DAY
    assert cursor.through == (through if through >= FIRST else None)
    assert cursor.listed == (cursor.error != NOT_LISTED)
