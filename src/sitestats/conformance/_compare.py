"""Compare what a service responded with what the emulator does.

The comparison is of the shape of a response: a text for each place, such as
``{"$.version": "6", "$.pages[].value": "path"}``, without host names and numbers of
visitors.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache, partial
from itertools import product
from typing import TYPE_CHECKING, Any, Final, Literal, cast

import attrs

from sitestats._base.fields import HISTOGRAM_COUNTS, NULLABLE
from sitestats._base.text import plain
from sitestats._protocol.flow import send_once
from sitestats._wire.messages import HttpResponse, JsonValue
from sitestats.emulator import Emulator

from ._observation import Case, Observation, as_read, failure_of, observe, read_table

if TYPE_CHECKING:
    from sitestats import Client

_MOST_PLACES: Final = 5
_TO_TEST: Final = (
    "nothing to do, except in tests: the emulator responds in the other form"
)
_TO_REPORT: Final = "don't rely on it, and report it with the output of --format json"
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
        line = f"{_MARKS[self.result]} {about}"
        return f"{line}\n    {self.why}" if self.why else line


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
        rows = {
            name: [str(case) for case in self.cases if case.result == name]
            for name in _MARKS
        }
        # Differences stand last, where a terminal shows them.
        lines = [*rows["same"], *rows["not decided"], *rows["failed"], *self._causes()]
        lines.append(", ".join(f"{len(cases)} {name}" for name, cases in rows.items()))
        if self.ended:
            lines.append(f"not everything was requested: {self.ended}")
        if self.options:
            options = ", ".join(f"{name}=True" for name in self.options)
            lines.append(f"the emulator follows with Emulator({options})")
        return "\n".join(lines)

    def _causes(self) -> Iterator[str]:
        """The differences, each once for all cases that have it, with what to do."""
        causes = defaultdict[CaseDifference, dict[str, bool | None]](dict)
        for case in self.different:
            for diff in case.differences:
                cause = attrs.evolve(diff, where=diff.where.rpartition(".")[2])
                causes[cause][f"{diff.where} in {case.name}"] = case.copes
        for cause, places in causes.items():
            consequence = _consequence_of(cause)
            verdict, to_do = "the client misreads it", _TO_REPORT
            if all(places.values()):
                verdict, to_do = "the client copes", _TO_TEST
            yield f"{_MARKS['different']} {cause}; {consequence or verdict}"
            named = ", ".join(list(places)[:_MOST_PLACES])
            rest = len(places) - _MOST_PLACES
            yield f"    {named}, and {rest} more" if rest > 0 else f"    {named}"
            if not consequence:
                yield f"    {to_do}"


def _consequence_of(cause: CaseDifference) -> str:
    """What numbers that contradict each other mean for you; empty for other causes."""
    for row in read_table()["consequence"]:
        if row["service"] in cause.service and cause.where == row["where"]:
            return str(row["text"])
    return ""


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
    observed = client._runner.run(observe(client._runner.session, hostname, pause))  # noqa: SLF001 - the flow is not an operation
    cases: list[Case] = read_table()["case"]
    emulate = cache(partial(_emulator, observed))
    outcomes = tuple(_compared(case, observed, emulate) for case in cases)
    options = {
        case.option: True
        for case, compared in zip(cases, outcomes, strict=True)
        if case.option
        and compared.result == "different"
        and _compared(case, observed, partial(emulate, **{case.option: True})).result
        == "same"
    }
    return ServiceComparison(outcomes, options, len(observed.responses), observed.ended)


def _emulator(observed: Observation, at: datetime, **options: Any) -> Emulator:
    """An emulator with the observed websites, at that moment."""
    emulator, hosts = Emulator(now=at, **options), observed.hosts
    for name in {hosts[kind] for kind in ("public", "private") if kind in hosts}:
        emulator.add_website(
            name,
            timezone=observed.zones.get(name, "UTC"),
            public=name == hosts.get("public"),
            locked=name == hosts.get("locked"),
        )
        emulator.load(_rows(observed.now), hostname=name)
    return emulator


def _rows(now: datetime) -> Iterator[Mapping[str, object]]:
    """Visits that give each list entries, also entries without a value."""
    for days in range(2, 9):
        at = {"added_iso": now - timedelta(days=days), "is_unique": True}
        visit = at | read_table()["visit"]
        yield from (visit, visit, at | {"path": "/other"}, at | {"datapoint": "signup"})


def _compared(case: Case, observed: Observation, emulate: Any) -> ComparedCase:
    made = partial(ComparedCase, case.name, case.section, case.decides)
    if case.of not in observed.hosts:
        return made(why=read_table()["missing"][case.of])
    hostname = observed.hosts[case.of]
    request = case.request(hostname, observed.now)
    response = observed.responses.get(request)
    if response is None:
        return made(why=f"not sent: {observed.ended}")
    if why := failure_of(response):
        return made("failed", why)
    if hostname not in observed.zones:
        # It is unknown when the website's days begin.
        case = attrs.evolve(case, values={*case.values} - {"start", "end"})
    emulator: Emulator = emulate(response.date or observed.now)
    key = emulator.api_key if observed.has_key else None
    with emulator.client(api_key=key) as client:
        ours = client._runner.run(send_once(request, client._runner.session))  # noqa: SLF001 - as above
    why, differences = _differences(response, ours, case)
    if not differences:
        return made("not decided" if why else "same", why)
    _, misread = _differences(as_read(response, request), as_read(ours, request), case)
    return made("different", differences=differences, copes=not misread)


def _differences(
    response: HttpResponse, ours: HttpResponse, case: Case
) -> tuple[str, tuple[CaseDifference, ...]]:
    """Why the case is not decided, and what differs."""
    if response.status == ours.status:
        why, one, other = _shapes(response, ours, case)
    else:
        # Other differences are a consequence of the status.
        data = _named(load(response))
        text = anonymised(data.get("error") or data.get("message") or "")
        why, one = "", {"status": f"{response.status} {text}".strip()}
        other = {"status": str(ours.status)}
        # A service that ignores zones can't refuse one.
        if _zone(data.get("timezone"), case) == _OTHER_ZONE:
            one, other = {"$.timezone": _OTHER_ZONE}, {"$.timezone": _REQUESTED_ZONE}
    differing = [
        where
        for where in dict.fromkeys((*other, *one))
        if one.get(where) != other.get(where)
    ]
    return why, tuple(
        CaseDifference(where, *(e.get(where, _absent(where)) for e in (one, other)))
        for where in differing
        if not any(_is_within(where, whole) for whole in differing)
        and not (where in _IN_ZONE and one.get("$.timezone") == _OTHER_ZONE)
    )


def _is_within(where: str, whole: str) -> bool:
    """Whether a place is within another one, whose difference is its cause."""
    return whole != "$" and where.startswith((f"{whole}.", f"{whole}[", f"{whole}:"))


def _absent(where: str) -> str:
    """The text of an absent place; only a mistake has a place outside the data."""
    return "missing" if where.startswith(("$", "call")) else "as documented"


def _shapes(
    response: HttpResponse, ours: HttpResponse, case: Case
) -> tuple[str, dict[str, str], dict[str, str]]:
    """Why the case is not decided, and the shapes to compare.

    They leave out what depends on the traffic: entries of a list that is empty on one
    side, entries with null, and unknown browsers.
    """
    theirs, lists = (_lists_of(load(each)) for each in (response, ours))
    one, other = (shape(each, case) for each in (response, ours))
    # A histogram has entries for days without visits, too, and a named event has one.
    always = (*_HISTOGRAMS, "$.events" if "name" in case.values else "")
    both = [place for place in lists if place in theirs and place not in always]
    empty = [place for place in both if not (theirs[place] and lists[place])]
    places = one.keys() | other.keys()
    in_one = places - (one.keys() & other.keys())
    is_open = {place for place in places if place.partition("[")[0] in empty}
    is_open |= {place for place in in_one if place.endswith(_NULLS)}
    is_open |= {place for place in places - one.keys() if place.startswith(_AGENTS)}
    one, other = (
        {place: text for place, text in each.items() if place not in is_open}
        for each in (one, other)
    )
    if case.option == "null_entries" and not any(p.endswith(_NULLS) for p in one):
        return "every visit has a country and a referrer", one, other
    is_empty = any(map(lists.get, empty)) and not any(map(theirs.get, both))
    return "the lists are empty" if is_empty else "", one, other


# --- the shape of a response --------------------------------------------------------

_NULLS: Final = "entries with null"
_AGENTS: Final = "$.agents[]."
"""The places of browsers' values, some of which the service does not know."""
_HISTOGRAMS: Final = ("$.histogram", "$.visits")
"""The places of histograms: version 1 and 2 name it visits."""
_HOST: Final = re.compile(r"(?:[\w@+-]+\.)+[^\W\d][\w-]*")
_NUMBER: Final = re.compile(r"(\x1b\[[\d;]*)|\d+")
"""A number, without characters that a terminal obeys."""
_CALL: Final = re.compile(r"([^{\[(]*show\s*\()(.*)(\).*)", re.DOTALL)
_SHOWN: Final = re.compile(r"\d{1,4}|[\d-]{7,10}(?:T[\d:.]{5,15}(?:Z|[+-][\d:]+))?")
"""Versions, dates and times, which are not numbers of visitors."""
_REQUESTED_ZONE: Final = "the requested zone"
_OTHER_ZONE: Final = "another zone"
_IN_ZONE: Final = ("$.start", "$.end")
"""What differs in another zone: the zone is the cause."""
_TIMES: Final = ("date", "hour", "week", "year")
"""The values of a histogram's entry that depend on the period alone."""
_FORMS: Final[Mapping[str, tuple[str, str]]] = {
    "own_hostname": ("str or null", r"null None|str .+"),
    **dict.fromkeys(NULLABLE, ("number or null", r"(null|int|float) .*")),
    "$.device_types[].value": ("known device", r"str (mobile|tablet|desktop|tv)"),
    "$.countries[].value": ("two capitals", r"str [A-Z]{2}"),
    "$.referrers[].value": ("name", r"str [^/:?]+"),
    "$.pages[].value": ("path", r"str /.*"),
}
"""The name of a value's form, and its pattern of type and value, by name or place."""
_LONGEST: Final = 200
_HOUR: Final = 3600
_MANY: Final = 100
"""From this many page views on, a website has a median, which is below an hour."""


def anonymised(text: object) -> str:
    """*text* of the service, without host names and numbers."""
    without_names = _HOST.sub("HOST", str(text)[: 10 * _LONGEST])
    return plain(_NUMBER.sub(lambda m: m[1] or "N", without_names)[:_LONGEST])


def load(response: HttpResponse) -> Any:
    """The data of *response*, wrapped for JSONP or not; None without."""
    text = response.body.decode(errors="replace")
    call = _CALL.fullmatch(text)
    try:
        return json.loads(call[2] if call else text)
    except (ValueError, RecursionError):
        return None


def _named(data: Any) -> dict[str, Any]:
    """The values of *data* by name, if it is an object."""
    return cast("dict[str, Any]", data) if isinstance(data, dict) else {}


def _lists_of(data: Any) -> dict[str, list[Any]]:
    """The lists of a response by their places, such as ``$.pages``."""
    places = {"$": data} | {f"$.{name}": value for name, value in _named(data).items()}
    return {where: value for where, value in places.items() if isinstance(value, list)}


def shape(response: HttpResponse, case: Case) -> dict[str, str]:
    """The shape of *response*, with the values that *case* compares."""
    data = load(response)
    places = defaultdict[str, set[str]](set)
    kind = response.headers.get("content-type", "missing").partition(";")[0]
    places["content-type"].add(anonymised(kind))
    places["date"].add("missing" if response.date is None else "a date")
    if call := _CALL.fullmatch(response.body.decode(errors="replace")):
        places["call"].add(anonymised(call[1] + "…" + call[3]).strip())
    for where, text in (*_places("$", data, case), *_wholes(data, case)):
        places[where].add(text)
    return {where: " or ".join(sorted(texts)) for where, texts in places.items()}


def _places(where: str, value: Any, case: Case) -> Iterator[tuple[str, str]]:
    """The shape of the value at *where*, and of the values in it."""
    name = where.rpartition(".")[2]
    if isinstance(value, dict):
        yield where, "dict"
        yield from _odd(_named(value))
        for key, inner in _named(value).items():
            if key.startswith("__"):
                yield f"{where}.__…", "some"
            elif key == "value" and inner is None:
                # Only one case asks about entries with null.
                if case.option == "null_entries":
                    yield f"{where}: {_NULLS}", "some"
            elif not (where.startswith(_HISTOGRAMS) and key in _TIMES):
                yield from _places(f"{where}.{anonymised(key)}", inner, case)
    elif isinstance(value, list):
        entries = cast("Sequence[Any]", value)
        yield where, f"{len(entries)} entries" if name in case.values else "list"
        for entry in entries:
            yield from _places(f"{where}[]", entry, case)
    elif name in case.values:
        yield where, _compared_value(name, value, case)
    else:
        called, form = _FORMS.get(where, _FORMS.get(name, ("", "(?!)")))
        kind = "null" if value is None else type(value).__name__
        has_form = re.fullmatch(form, f"{kind} {value}", re.DOTALL)
        yield where, called if has_form else kind


def _shown(value: object) -> str:
    return str(value) if _SHOWN.fullmatch(str(value)) else anonymised(value)


def _compared_value(name: str, value: object, case: Case) -> str:
    """A value that *case* compares."""
    if name == "timezone":
        return _zone(value, case)
    return "more than 0" if name == "pageviews" and value else _shown(value)


def _zone(value: object, case: Case) -> str:
    """The zone of a response, by the zone that *case* requests."""
    requested = case.params.get("timezone", "")
    if requested and value == requested:
        return _REQUESTED_ZONE
    is_other = isinstance(value, str) and value.casefold() != requested.casefold()
    return _OTHER_ZONE if requested and is_other else _shown(value)


def _odd(entry: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Numbers of one object that contradict each other."""
    visitors = map(entry.get, ("visitors", "uniques", "uniqueVisits"))
    if any(isinstance(n, int) and n > _count(entry) > 0 for n in visitors):
        yield "visitors", "more than page views"
    for where, entries in _lists_of(entry).items():
        for name in HISTOGRAM_COUNTS if where in _HISTOGRAMS else ():
            counts: list[Any] = [_named(e).get(name) for e in (entry, *entries)]
            if all(isinstance(n, int) for n in counts) and counts[0] != sum(counts[1:]):
                yield name, "not the sum of the histogram"
        seconds = entry.get("seconds_on_page", 0)
        is_median = isinstance(seconds, int | float) and seconds <= _HOUR
        if where == "$.pages" and sum(map(_count, entries)) > _MANY and not is_median:
            yield "seconds_on_page", "not a number up to an hour"


def _wholes(data: Any, case: Case) -> Iterator[tuple[str, str]]:
    """What the entries of each list have in common: their names, times and order."""
    for where, values in _lists_of(data).items():
        entries: list[dict[str, Any]] = [e for e in values if isinstance(e, dict)]
        total = sum(_count(entry) for entry in entries)
        keys: list[Any] = [-_count(entry) for entry in entries]
        if where in _HISTOGRAMS:
            keys = [str(entry.get("date")) for entry in entries]
            for name, end in product(_TIMES, entries[:1] + entries[-1:]):
                if name in end:
                    kind = type(end[name]).__name__
                    yield f"{where}[].{name}", f"{kind} {_shown(end[name])}"
        elif where != "$.agents":
            # In agents, unknown names are missing.
            for name in {name for entry in entries for name in entry} - {"value"}:
                if any(name not in entry for entry in entries):
                    yield f"{where}[].{anonymised(name)}", "missing in some"
        if keys != sorted(keys) and where not in {"$", "$.websites"}:
            yield f"order of {where}", "not as documented"
        if case.option == "null_entries" and total < _count(data):
            yield f"{where}[]: {_NULLS}", "none"


def _count(entry: Any) -> int:
    """The page views of an entry, or how often an event was."""
    counts = map(_named(entry).get, ("pageviews", "visits", "total", "count"))
    return next((count for count in counts if isinstance(count, int)), 0)
