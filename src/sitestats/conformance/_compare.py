"""Compare what a service responded with what the emulator does."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import available_timezones

from sitestats.emulator import Emulator

from ._cases import Case, read_cases
from ._comparison import CaseDifference, ComparedCase, ServiceComparison
from ._observation import NOT_SENT, Observation, observe, send_once
from ._shape import CHECKS, clean, load, rows_of, shape

if TYPE_CHECKING:
    from sitestats import AsyncClient, Client
    from sitestats._common.wire import HttpRequest, HttpResponse

_MISSING: Final = {
    "list": "the list needs an API key and a user ID",
    "public": "there is no public website in the list",
    "private": "there is no private website in the list",
    "locked": "the website is not locked",
    "site": "the website is locked",
}


def compare_service(
    client: Client, hostname: str, *, pause: float = 0.5
) -> ServiceComparison:
    """Compare the service of *client* with the emulator, case by case.

    It sends some 55 requests that read, one after the other, and nothing else.

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
    # If it can't be made, nothing is sent.
    Emulator()
    flow = observe(client._settings, hostname, pause)  # noqa: SLF001 - runs a flow
    return compare(client._runner.run(flow))  # noqa: SLF001 - as above


async def compare_service_async(
    client: AsyncClient, hostname: str, *, pause: float = 0.5
) -> ServiceComparison:
    """As ``compare_service``, by an ``AsyncClient``."""
    # If it can't be made, nothing is sent.
    Emulator()
    flow = observe(client._settings, hostname, pause)  # noqa: SLF001 - runs a flow
    return compare(await client._runner.run(flow))  # noqa: SLF001 - as above


def compare(observed: Observation) -> ServiceComparison:
    """Compare each case of *observed* with an emulator of the same websites."""
    cases, not_tried = read_cases()
    mirror = _Mirror(observed)
    options: dict[str, bool] = {}
    found: list[ComparedCase] = []
    for case in cases:
        result = _compared(case, observed, mirror)
        found.append(result)
        if case.option and result.result == "different":
            other = _Mirror(observed, **{case.option: True})
            if _compared(case, observed, other).result == "same":
                options[case.option] = True
    texts = [one for one in observed.responses.values() if isinstance(one, str)]
    unsent = [one for one in texts if one.startswith(NOT_SENT)]
    return ServiceComparison(
        tuple(found),
        not_tried,
        options,
        requests=len(observed.responses) - len(unsent),
        ended=unsent[0].removeprefix(NOT_SENT) if unsent else "",
    )


class _Mirror:
    """An emulator with the websites of an observation, and traffic of its own."""

    def __init__(self, observed: Observation, **options: Any) -> None:
        self._emulator = Emulator(now=observed.now, **options)
        hosts = observed.hosts
        for name in {hosts[kind] for kind in ("public", "private") if kind in hosts}:
            zone = observed.zones.get(name, "UTC")
            self._emulator.add_website(
                name,
                timezone=zone if zone in available_timezones() else "UTC",
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
        settings = self._client._settings  # noqa: SLF001 - runs a flow
        return self._client._runner.run(send_once(request, settings))  # noqa: SLF001


def _rows(now: datetime) -> Iterator[dict[str, object]]:
    """Visits of which each list has something, and some have no value."""
    full = {
        **{f"utm_{name}": name for name in ("source", "medium", "campaign")},
        "utm_content": "content",
        "utm_term": "term",
        "country_code": "NL",
        "document_referrer": "https://example.org",
        "browser_name": "Firefox",
        "os_name": "Linux",
        "device_type": "desktop",
        "duration_seconds": 20,
    }
    for days in range(2, 9):
        at = {"added_iso": (now - timedelta(days=days)).isoformat(), "is_unique": True}
        yield {**at, **full, "path": "/"}
        yield {**at, **full, "path": "/"}
        yield {**at, "path": "/other"}
        yield {**at, "path": "/", "datapoint": "signup"}


def _compared(case: Case, observed: Observation, mirror: _Mirror) -> ComparedCase:
    about = case.name, case.section, case.decides, case.rule
    if case.of not in observed.hosts:
        return ComparedCase(*about, "not decided", _MISSING[case.of])
    request = case.request(observed.hosts[case.of], observed.now)
    response = observed.responses[request]
    if isinstance(response, str):
        return ComparedCase(*about, "not decided", response)
    ours = mirror.respond(request, response.date)
    if response.status != ours.status:
        # What else differs is a consequence.
        found = dict(rows_of(load(response)))
        words = clean(found.get("error") or found.get("message") or "")
        pair = f"{response.status} {words}".strip(), str(ours.status)
        return ComparedCase(
            *about, "different", differences=(CaseDifference("status", *pair),)
        )
    one, other = shape(response, case), shape(ours, case)
    why = ""
    lists = {where for where in other if where.startswith("[]")}
    if lists and not any(where.startswith("[]") for where in one):
        why = "the lists are empty"
        other = {where: text for where, text in other.items() if where not in lists}
    if case.check:
        checked, wanted = (CHECKS[case.check](load(each)) for each in (response, ours))
        if isinstance(checked, str):
            why = checked
        elif isinstance(wanted, dict):
            one, other = one | checked, other | wanted
    differences = tuple(
        CaseDifference(where, one.get(where, "missing"), other.get(where, "missing"))
        for where in dict.fromkeys((*other, *one))
        if one.get(where) != other.get(where)
    )
    if differences:
        return ComparedCase(*about, "different", differences=differences)
    return ComparedCase(*about, "not decided" if why else "same", why)
