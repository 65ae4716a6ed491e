"""What an update is going to read: where it begins, and who approves it."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from sitestats import ConfigurationError, SiteStatsWarning
from sitestats.warehouse import Estimate, _estimate
from sitestats.warehouse._held import DAY
from sitestats.warehouse._plan import Declined, Plan, approve_days

pytestmark = pytest.mark.once

NOW = dt.datetime(2026, 3, 5, 20, tzinfo=dt.UTC)
FIRST = dt.date(2026, 3, 1)
ZONES = {"a.example": "UTC", "b.example": "Asia/Tokyo"}


def plan(**given: Any) -> Plan:
    """A plan of days from the first on, with one list."""
    options = {"first": FIRST, "until": dt.date.max, "hostnames": None, "lag": 1}
    return Plan(**{**options, "lists": frozenset({"pages"}), **given})


def test_the_first_day_is_remembered() -> None:
    """The first update needs it; one of some websites changes it for no other."""
    state: dict[str, Any] = {"cursors": {}}
    with pytest.raises(ConfigurationError, match="the first update needs first_day"):
        plan(first=None).days(state, ZONES, NOW)
    some = {"first": FIRST + DAY, "hostnames": ["a.example"]}
    days = plan(**some).days(state, ZONES, NOW)
    assert (days.left, [*days.websites]) == (1 + 3, ["a.example"])
    assert state["since"] == "2026-03-02"
    assert plan().days(state, ZONES, NOW).left == 1 + 4 + 1 + 5
    plan(**some).days(state, ZONES, NOW)
    assert state["since"] == "2026-03-01"
    days = plan(first=None, until=FIRST + DAY).days(state, ZONES, NOW)
    assert days.left == 2 + 2


def test_a_website_that_can_t_be_queried_has_an_error() -> None:
    """A zone or a name that the service lists may be none; others have their days."""
    zones = {"a b": "UTC", "c.example": "Nowhere/Land", **ZONES}
    sites = plan().days({"cursors": {}}, zones, NOW).websites
    errors = {name: site.cursor().error for name, site in sites.items()}
    assert str(errors["a b"]).startswith("QueryError: ")
    assert str(errors["c.example"]).startswith("QueryError: timezone: ")
    assert (errors["a.example"], errors["b.example"]) == (None, None)
    assert all(sites[name].cursor().lasting for name in ("a b", "c.example"))
    # One that is not listed any more has the zone of its days.
    state = {"cursors": {"b.example": sites["b.example"].cursor().to_state()}}
    days = plan(hostnames=["b.example"]).days(state, {}, NOW)
    assert days.websites["b.example"].timezone == "Asia/Tokyo"


def test_a_large_update_is_approved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever approves sees the estimate and can end it; else a large one warns."""
    days = plan().days({"cursors": {}}, ZONES, NOW)
    seen: list[Estimate] = []
    approve_days(days, {}, 20, lambda estimate: not seen.append(estimate))
    assert seen[0].requests == days.left
    with pytest.raises(Declined):
        approve_days(days, {}, 20, lambda _: False)
    approve_days(days, {}, 20, None)
    monkeypatch.setattr(_estimate, "_MANY", 2)
    with pytest.warns(SiteStatsWarning, match="this update is large: at most 11 "):
        approve_days(days, {}, 20, None)
