"""Compare what a service responded with what the emulator does."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, Literal

import attrs

from sitestats._common.wire import HttpRequest, HttpResponse, JsonValue
from sitestats._common.zones import zone_names
from sitestats._protocol.flow import send_once
from sitestats.emulator import Emulator

from ._observation import Case, Observation, as_read, failure_of, observe, read_table
from ._shape import HISTOGRAMS, NULLS, Shape, absent, lists_of, load, message, shape

if TYPE_CHECKING:
    from sitestats import Client
    from sitestats._client.runner import Runner

_MOST_PLACES: Final = 5
_MARKS: Final = {"same": "✓", "not decided": "-", "failed": "!", "different": "✗"}


@attrs.frozen
class CaseDifference:
    """One place in which the service and the emulator differ."""

    where: str
    """Such as ``"status"``, ``"$.end"`` or ``"[].value"``."""
    service: str
    """What the service has, without host names and numbers of visitors."""
    emulator: str
    """What the emulator has."""

    def __str__(self) -> str:
        return f"{self.where}: {self.service}, in the emulator {self.emulator}"


@attrs.frozen
class ComparedCase:
    """One case: a question, and what was found."""

    name: str
    """Such as ``"period"``."""
    section: str
    """The section of the service's document that it is about."""
    decides: str
    """The question."""
    result: Literal["same", "different", "not decided", "failed"] = "not decided"
    """Whether both do the same. What can't be compared is not decided, and a case
    without a response, or with one of 500 to 599, has failed."""
    why: str = ""
    """Why it is not decided, or has failed."""
    differences: tuple[CaseDifference, ...] = ()
    """What differs."""
    copes: bool | None = None
    """Whether the client makes the same of both responses, if they differ."""

    def __str__(self) -> str:
        about = f"{self.name:24} {self.decides} ({self.section})"
        return f"{_MARKS[self.result]} {about}" + f"\n    {self.why}" * bool(self.why)


@attrs.frozen
class ServiceComparison:
    """Where a service does as the emulator does, case by case.

    >>> from sitestats.conformance import compare_service
    >>> comparison = compare_service(client, "semicomplete.com", pause=0)
    >>> comparison.cases[0].name, comparison.cases[0].result
    ('list-envelope', 'same')
    """

    cases: tuple[ComparedCase, ...]
    """Every case, in the order of the document."""
    not_tried: Sequence[Mapping[str, str]]
    """What only a write or a lock could show: its section, what it is, and why not."""
    options: Mapping[str, bool]
    """The options of ``Emulator`` that make it follow the service."""
    requests: int
    """How many requests were sent."""
    ended: str = ""
    """Why not everything was requested; empty if it was."""

    @property
    def different(self) -> tuple[ComparedCase, ...]:
        """The cases in which the service differs."""
        return tuple(case for case in self.cases if case.result == "different")

    @property
    def failed(self) -> tuple[ComparedCase, ...]:
        """The cases that the service did not respond to."""
        return tuple(case for case in self.cases if case.result == "failed")

    def to_dict(self) -> dict[str, JsonValue]:
        """The report, ready for JSON, without credentials and host names."""
        return attrs.asdict(self)

    def __str__(self) -> str:
        found = {
            name: [str(case) for case in self.cases if case.result == name]
            for name in _MARKS
        }
        tried = [f"- not tried: {one['what']}: {one['why']}" for one in self.not_tried]
        # What differs stands last, where a terminal shows it.
        lines = [*found["same"], *found["not decided"], *tried, *found["failed"]]
        lines += self._causes()
        lines.append(", ".join(f"{len(rows)} {name}" for name, rows in found.items()))
        if self.ended:
            lines.append(f"not everything was requested: {self.ended}")
        if self.options:
            options = ", ".join(f"{name}=True" for name in self.options)
            lines.append(f"the emulator follows with Emulator({options})")
        return "\n".join(lines)

    def _causes(self) -> Iterator[str]:
        """What differs, once for all cases in which a name differs alike."""
        found = defaultdict[tuple[str, str, str], dict[str, ComparedCase]](dict)
        for case in self.different:
            for one in case.differences:
                name = one.where.rpartition(".")[2]
                found[name, one.service, one.emulator][
                    f"{one.where} in {case.name}"
                ] = case
        for cause, cases in found.items():
            copes = all(case.copes for case in cases.values())
            client = "copes" if copes else "misreads it"
            more = f", and {len(cases) - _MOST_PLACES} more" * (
                len(cases) > _MOST_PLACES
            )
            yield f"{_MARKS['different']} {CaseDifference(*cause)}; the client {client}"
            yield f"    {', '.join([*cases][:_MOST_PLACES])}{more}"


def compare_service(
    client: Client, hostname: str, *, pause: float = 0.5
) -> ServiceComparison:
    """Compare the service of *client* with the emulator, case by case.

    It sends some 60 requests, one after the other, which only read.

    Args:
        client: A client of the service.
        hostname: A website of yours, ideally with traffic in the last week.
        pause: Seconds between two requests.

    Returns:
        What is the same, what differs, and what could not be decided.

    Raises:
        SiteStatsError: The website can't be read.

    >>> from sitestats.conformance import compare_service
    >>> comparison = compare_service(client, "semicomplete.com", pause=0)
    >>> [case.name for case in comparison.cases if case.why][:2]
    ['locked']
    """
    runner = client._runner  # noqa: SLF001 - the flow is not an operation
    observed = runner.run(observe(runner.settings, hostname, pause))
    table, mirror = read_table(), _Mirror(observed)
    cases: list[Case] = table["case"]
    found = tuple(_compared(case, observed, mirror) for case in cases)
    others = {
        case.option: _compared(case, observed, _Mirror(observed, **{case.option: True}))
        for case, result in zip(cases, found, strict=True)
        if case.option and result.result == "different"
    }
    options = {name: True for name, one in others.items() if one.result == "same"}
    requests, not_tried = len(observed.responses), table["not_tried"]
    return ServiceComparison(found, not_tried, options, requests, observed.ended)


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
        return runner.run(send_once(request, runner.settings))


def _rows(now: datetime) -> Iterator[Mapping[str, object]]:
    """Visits of which each list has something, and some have no value."""
    for days in range(2, 9):
        moment = (now - timedelta(days=days)).isoformat()
        at = {"added_iso": moment, "is_unique": True}
        visit = at | read_table()["visit"]
        yield from (visit, visit, {**at, "path": "/other"})
        yield {**at, "datapoint": "signup"}


def _compared(case: Case, observed: Observation, mirror: _Mirror) -> ComparedCase:
    undecided = ComparedCase(case.name, case.section, case.decides)
    if case.of not in observed.hosts:
        return attrs.evolve(undecided, why=read_table()["missing"][case.of])
    request = case.request(observed.hosts[case.of], observed.now)
    response = observed.responses.get(request)
    if response is None:
        return attrs.evolve(undecided, why=f"not sent: {observed.ended}")
    if why := failure_of(response):
        return attrs.evolve(undecided, result="failed", why=why)
    ours = mirror.respond(request, response.date)
    why, differences = _differences(response, ours, case)
    if not differences:
        return attrs.evolve(undecided, result="not decided" if why else "same", why=why)
    _, misread = _differences(as_read(response, request), as_read(ours, request), case)
    return attrs.evolve(
        undecided, result="different", differences=differences, copes=not misread
    )


def _differences(
    response: HttpResponse, ours: HttpResponse, case: Case
) -> tuple[str, tuple[CaseDifference, ...]]:
    """Why the case is not decided, and what differs."""
    if response.status == ours.status:
        why, one, other = _shapes(response, ours, case)
    else:
        # What else differs is a consequence.
        text = f"{response.status} {message(load(response))}".strip()
        why, one, other = "", {"status": text}, {"status": str(ours.status)}
    return why, tuple(
        CaseDifference(
            where, *(each.get(where, absent(where)) for each in (one, other))
        )
        for where in dict.fromkeys((*other, *one))
        if one.get(where) != other.get(where)
    )


def _shapes(
    response: HttpResponse, ours: HttpResponse, case: Case
) -> tuple[str, Shape, Shape]:
    """Why the case is not decided, and the shapes to compare.

    They leave out what depends on the traffic: entries of a list that is empty on one
    side, entries with null, and unknown browsers.
    """
    theirs, lists = (lists_of(load(each)) for each in (response, ours))
    one, other = (shape(each, case) for each in (response, ours))
    # A histogram has entries for days without visits, too, and a named event has one.
    always = (*HISTOGRAMS, "$.events" if "name" in case.values else "")
    both = [place for place in lists if place in theirs and place not in always]
    empty = [place for place in both if not (theirs[place] and lists[place])]
    is_open = {
        place
        for place in one.keys() | other.keys()
        if place.partition("[")[0] in empty
        or (place.endswith(NULLS) and not (place in one and place in other))
        or (place.startswith("$.agents[].") and place not in one)
    }
    one, other = (
        {place: text for place, text in each.items() if place not in is_open}
        for each in (one, other)
    )
    if case.option == "null_entries" and not any(p.endswith(NULLS) for p in one):
        return "every visit has a country and a referrer", one, other
    is_empty = any(lists[place] for place in empty)
    filled = any(theirs[place] for place in both)
    return "the lists are empty" if is_empty and not filled else "", one, other
