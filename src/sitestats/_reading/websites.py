"""Read responses of the Admin API: the list of websites, and an added website."""

from __future__ import annotations

import attrs

from sitestats._base.errors import Problem, warn
from sitestats._base.text import counted, cut, shown
from sitestats._base.zones import same_zone
from sitestats._results.websites import AddedWebsite, Website, WebsiteList
from sitestats._wire.messages import HttpRequest, HttpResponse

from .checking import same_host
from .decoding import decode_json
from .errors import NOT_AS_DOCUMENTED, invalid_response
from .structuring import structure


def read_websites(response: HttpResponse, request: HttpRequest) -> WebsiteList:
    """The websites of a list (section 4.1).

    The document has them in an object; a bare array is read as well.
    """
    items, path = decode_json(response, request), "$"
    if isinstance(items, dict):
        items, path = items.get("websites"), "$.websites"
    if not isinstance(items, list):
        problem = Problem("expected an array", section="4.1", where=path)
        raise invalid_response(response, request, NOT_AS_DOCUMENTED, [problem])
    websites, problems = list[Website](), list[Problem]()
    for place, item in enumerate(items):
        website, wrong = structure(item, Website, f"{path}[{place}]", "2.1")
        problems += wrong
        if website is not None:
            websites.append(
                attrs.evolve(website, problems=(*wrong,)) if wrong else website
            )
    if problems and not websites:
        raise invalid_response(response, request, NOT_AS_DOCUMENTED, problems)
    if problems:
        number = counted(len(problems), "value")
        warn(f"{number} of the list of websites can't be read: {problems[0]}")
    return WebsiteList(
        websites,
        responded_at=response.responded_at,
        problems=tuple(problems),
        incomplete=len(websites) < len(items),
    )


def read_added(
    response: HttpResponse,
    request: HttpRequest,
    asked: tuple[str, str | None, bool],
    *,
    warned: bool = True,
) -> AddedWebsite:
    """The result of adding a website (section 4.2), compared with the host name, the
    time zone and the flag that were *asked* for.

    With *warned*, differences and what can't be read are in the result and in a
    warning: they are not an error, since the website exists and can't be removed.
    Without, the caller has the list to look at, and what can't be read is an error.
    """
    data = decode_json(response, request)
    added, problems = structure(data, AddedWebsite, "$", "2.2")
    if added is None or (problems and not warned):
        why = f"{NOT_AS_DOCUMENTED}, but the website was added"
        raise invalid_response(response, request, why, problems)
    hostname, zone, public = asked
    # A request without a time zone leaves the zone to the service.
    zone = zone or added.timezone
    differences = tuple(
        Problem(
            f"requested {requested!r}, but the service made it {shown(applied)}",
            section="2.2",
            where=name,
        )
        for name, requested, applied, is_same in (
            ("hostname", hostname, added.hostname, same_host(hostname, added.hostname)),
            ("timezone", zone, added.timezone, same_zone(zone, added.timezone)),
            ("public", public, added.public, public is added.public),
        )
        if not is_same and applied is not None
    )
    if warned and (wrong := (*problems, *differences)):
        what = "; ".join(map(str, wrong))
        warn(f"{cut(added.hostname)} was added, but not all is as requested: {what}")
    return attrs.evolve(added, differences=differences, problems=(*problems,))
