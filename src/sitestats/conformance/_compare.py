"""Compare what a service responded with what the emulator does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import attrs

from sitestats._common.zones import zone_names
from sitestats._protocol.check_setup import send_once
from sitestats.emulator import Emulator

from ._cases import Case, read_table
from ._comparison import CaseDifference, ComparedCase, ServiceComparison
from ._observation import NOT_SENT, Observation, observe
from ._shape import HISTOGRAMS, NULLS, Shape, lists_of, load, message, shape

if TYPE_CHECKING:
    from sitestats import Client
    from sitestats._client.runner import Runner
    from sitestats._common.wire import HttpRequest, HttpResponse


def compare_service(
    client: Client, hostname: str, *, pause: float = 0.5
) -> ServiceComparison:
    """Compare the service of *client* with the emulator, case by case.

    It sends some 60 requests that read, one after the other, and nothing else.

    Args:
        client: A client of the service.
        hostname: A website of yours, best one with traffic in the last week.
        pause: Seconds between two requests.

    Returns:
        What is the same, what differs, and what could not be decided.

    Raises:
        MissingExtraError: The extra ``emulator`` is missing; nothing was sent.
        SiteStatsError: The website can't be read.

    >>> from sitestats.conformance import compare_service
    >>> comparison = compare_service(client, "semicomplete.com", pause=0)
    >>> [case.name for case in comparison.cases if case.why][:2]
    ['locked']
    """
    # If there can be no emulator, nothing is sent.
    Emulator()
    runner = client._runner  # noqa: SLF001 - it runs a flow that is no operation
    observed = runner.run(observe(runner.settings, hostname, pause))
    table, options = read_table(), dict[str, bool]()
    cases: list[Case] = table["case"]
    mirror = _Mirror(observed)
    found = [_compared(case, observed, mirror) for case in cases]
    for case, result in zip(cases, found, strict=True):
        if case.option and result.result == "different":
            other = _Mirror(observed, **{case.option: True})
            if _compared(case, observed, other).result == "same":
                options[case.option] = True
    whys = [one for one in observed.responses.values() if isinstance(one, str)]
    unsent = [one.removeprefix(NOT_SENT) for one in whys if one.startswith(NOT_SENT)]
    requests = len(observed.responses) - len(unsent)
    ended = unsent[0] if unsent else ""
    return ServiceComparison(tuple(found), table["not_tried"], options, requests, ended)


class _Mirror:
    """An emulator with the websites of an observation, and traffic of its own."""

    def __init__(self, observed: Observation, **options: Any) -> None:
        self._emulator = Emulator(now=observed.now, **options)
        hosts = observed.hosts
        for name in {hosts[kind] for kind in ("public", "private") if kind in hosts}:
            zone = observed.zones.get(name, "UTC")
            self._emulator.add_website(
                name,
                timezone=zone if zone in zone_names() else "UTC",
                public=name == hosts.get("public"),
                locked=name == hosts.get("locked"),
            )
            self._emulator.load(_rows(observed.now), hostname=name)
        key = self._emulator.api_key if observed.has_key else None
        self._client = self._emulator.client(api_key=key)

    def respond(self, request: HttpRequest, at: datetime | None) -> HttpResponse:
        """What the emulator responds, where it is that moment."""
        if at is not None:
            self._emulator.now = at
        runner: Runner = self._client._runner  # noqa: SLF001 - as above
        return runner.run(send_once(request, runner.settings))[0]


def _rows(now: datetime) -> Iterator[Mapping[str, object]]:
    """Visits of which each list has something, and some have no value."""
    for days in range(2, 9):
        moment = (now - timedelta(days=days)).isoformat()
        at = {"added_iso": moment, "is_unique": True}
        visit = at | read_table()["visit"]
        yield from (visit, visit, {**at, "path": "/other"})
        yield {**at, "datapoint": "signup"}


def _compared(case: Case, observed: Observation, mirror: _Mirror) -> ComparedCase:
    undecided = ComparedCase(case.name, case.section, case.decides, case.rule)
    if case.of not in observed.hosts:
        return attrs.evolve(undecided, why=read_table()["missing"][case.of])
    request = case.request(observed.hosts[case.of], observed.now)
    response = observed.responses[request]
    if isinstance(response, str):
        return attrs.evolve(undecided, why=response)
    ours = mirror.respond(request, response.date)
    if response.status == ours.status:
        why, one, other = _shapes(response, ours, case)
    else:
        # What else differs is a consequence.
        text = f"{response.status} {message(load(response))}".strip()
        why, one, other = "", {"status": text}, {"status": str(ours.status)}
    differences = tuple(
        CaseDifference(where, one.get(where, "missing"), other.get(where, "missing"))
        for where in dict.fromkeys((*other, *one))
        if one.get(where) != other.get(where)
    )
    if differences:
        return attrs.evolve(undecided, result="different", differences=differences)
    return attrs.evolve(undecided, result="not decided" if why else "same", why=why)


def _shapes(
    response: HttpResponse, ours: HttpResponse, case: Case
) -> tuple[str, Shape, Shape]:
    """Why nothing is decided, if so; and the shapes to compare.

    They have nothing that only other traffic would show: the entries of a list that is
    empty, entries for nothing, and what is not known of a visitor's browser.
    """
    theirs, lists = (lists_of(load(each)) for each in (response, ours))
    one, other = (shape(each, case) for each in (response, ours))
    # A histogram has entries for days without visits, too, and a named event has one.
    always = (*HISTOGRAMS, "$.events" if "name" in case.values else "")
    both = [place for place in lists if place in theirs and place not in always]
    empty = [place for place in both if not (theirs[place] and lists[place])]

    def is_open(place: str) -> bool:
        if place.endswith(NULLS):
            return place not in one or place not in other
        if place.startswith("$.agents[]."):
            return place not in one
        return place.partition("[")[0] in empty

    one, other = (
        {place: text for place, text in each.items() if not is_open(place)}
        for each in (one, other)
    )
    if case.option == "null_entries" and not any(p.endswith(NULLS) for p in one):
        return "every visit has a country and a referrer", one, other
    is_empty = any(lists[place] for place in empty)
    filled = any(theirs[place] for place in both)
    return "the lists are empty" if is_empty and not filled else "", one, other
