"""From an ``HttpResponse`` to a model, or to the right error.

Each function first judges whether the service said no (``failures``), then
whether the answer is what the document says, and then, for statistics, whether
it is the answer to the question that was asked (``consistency``).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, get_args

import attrs

from sitestats._common.errors import Problem, warn
from sitestats._common.fields import COUNTS, LISTS
from sitestats._common.jsontext import JsonValue
from sitestats._common.text import shown
from sitestats._results.entries import Entries
from sitestats._results.histogram import entry_type, read_histogram
from sitestats._results.stats import Stats
from sitestats._results.websites import WebsiteList

from .consistency import LATEST_SHAPE, problems_with, same_host, worth_a_look
from .decoder import Shape, shape
from .failures import OK, decoded, judge, not_as_documented, page_title, unreadable

if TYPE_CHECKING:
    from sitestats._common.wire import HttpRequest, HttpResponse
    from sitestats._query.builder import StatsQuery
    from sitestats._query.requested import Requested
    from sitestats._results.websites import AddedWebsite

_OWN_FIELDS: Final = 3
"""From this version on, the query says which fields it wants."""
_MOST_EVENTS: Final = 1000
_NO_CONTENT: Final = 204


def check(response: HttpResponse, request: HttpRequest) -> None:
    """Raise the error that *response* is, if it is one.

    Args:
        response: The answer.
        request: What it answers.

    Raises:
        ServiceError: The service said no, by its status or in its words.
        ResponseError: The status is none that an answer has.
    """
    judge(response, request)


def read_json(response: HttpResponse, request: HttpRequest) -> JsonValue:
    """The decoded answer of a custom endpoint (section 1); None for 204."""
    if response.status == _NO_CONTENT:
        return None
    return decoded(response, request)


def read_websites(response: HttpResponse, request: HttpRequest) -> WebsiteList:
    """The websites of a list (section 4.1).

    The document has them in an object; a bare array is taken as well.
    """
    from .converter import structure_websites

    data = decoded(response, request)
    path = "$"
    flags = _flags(data)
    if isinstance(data, dict):
        path = "$.websites"
        data = data.get("websites")
    if not isinstance(data, list):
        problem = Problem("expected an array", section="4.1", where=path)
        raise not_as_documented(response, request, [*flags, problem])
    websites, problems = structure_websites(data, path)
    problems = [*flags, *problems]
    if problems:
        raise not_as_documented(response, request, problems)
    return WebsiteList(websites)


def read_added(
    response: HttpResponse,
    request: HttpRequest,
    *,
    hostname: str,
    timezone: str | None,
    public: bool,
    warned: bool = True,
) -> AddedWebsite:
    """The result of adding a website (section 4.2), held against what was asked.

    What came out otherwise is in ``differences`` and, where *warned*, warned
    about: the website exists, and there is no way to take it back.
    """
    from .converter import structure_added

    data = decoded(response, request)
    added, problems = structure_added(data)
    problems = [*_flags(data), *problems]
    if added is None or problems:
        raise not_as_documented(
            response,
            request,
            problems,
            what="the service says that the website was added, but its answer",
        )
    differences = tuple(
        Problem(
            f"asked for {asked!r}, and the service made it {applied!r}",
            section="2.2",
            where=name,
        )
        for name, asked, applied in (
            ("hostname", hostname, added.hostname),
            ("timezone", timezone, added.timezone),
            ("public", public, added.public),
        )
        if asked is not None and not _same(name, asked, applied)
    )
    if differences and warned:
        what = "; ".join(map(str, differences))
        warn(f"{added.hostname} was added otherwise than asked: {what}")
    return attrs.evolve(added, differences=differences)


def _flags(data: JsonValue) -> list[Problem]:
    """What is wrong with the values that say whether it went well."""
    if not isinstance(data, dict):
        return []
    return [
        Problem("expected true or false", section="2.2", where=f"$.{name}")
        for name in ("ok", "success")
        if name in data and not isinstance(data[name], bool)
    ]


def _same(name: str, asked: object, applied: object) -> bool:
    if name == "hostname" and isinstance(asked, str) and isinstance(applied, str):
        return same_host(asked, applied)
    return asked == applied


# --- JSONP ------------------------------------------------------------------------


def read_jsonp(
    response: HttpResponse,
    request: HttpRequest,
    callback: str,
) -> str:
    """The statistics wrapped in a call of *callback*, as served (section 4.3).

    A failure may come wrapped too, so the answer is unwrapped to judge it. How
    it is wrapped is not documented: whatever stands around the call is left
    alone.
    """
    try:
        text = response.body.removeprefix(b"\xef\xbb\xbf").decode()
    except UnicodeDecodeError as error:
        # Not yet: an error of the service may come in any encoding.
        text, broken = "", f"is no UTF-8 at byte {error.start}"
    else:
        broken = f"is no call of {callback}"
    inside = _unwrap(text, callback)
    judged = response
    if inside is not None:
        judged = attrs.evolve(response, body=inside.encode())
    data = judge(judged, request)
    if inside is None or page_title(response.body) is not None:
        raise unreadable(response, request, broken)
    if not isinstance(data, dict):
        raise unreadable(response, request, "holds no object of statistics")
    return text


def _unwrap(text: str, callback: str) -> str | None:
    """What *callback* is called with, None when it is not called."""
    start = re.search(rf"(?<![\w$.]){re.escape(callback)}\s*\(", text)
    end = text.rfind(")")
    if start is None or end < start.end():
        return None
    return text[start.end() : end]


# --- statistics -------------------------------------------------------------------


def read_stats(
    response: HttpResponse,
    request: HttpRequest,
    query: StatsQuery,
    requested: Requested,
) -> Stats:
    """The statistics that *query* asked for (section 4.3).

    Args:
        response: The answer.
        request: What it answers.
        query: What the result is for.
        requested: What the response is checked against.

    Raises:
        ServiceError: The service said no.
        ResponseError: The answer is not what the document says, or not about
            what was asked.
    """
    if requested.version < _OWN_FIELDS:
        requested = _with_totals(requested)
    expected = shape(requested.fields, requested.events is not None)
    wrong: dict[str, list[Problem]] = {}
    answer = expected.decode(response.body) if response.status in OK else None
    if answer is None or not (answer.get("ok", True) and answer.get("success", True)):
        answer, wrong = _slowly(response, request, expected, requested)
    problems = [*problems_with(answer, wrong, expected, requested)]
    if problems:
        nothing = expected.required and expected.required.isdisjoint(answer)
        hint = _NOTHING_THERE if nothing else ""
        raise not_as_documented(response, request, problems, hint=hint)
    start, end = _utc(answer.get("start")), _utc(answer.get("end"))
    for sentence in worth_a_look(answer, wrong, requested):
        warn(sentence)
    for name, bound in (("start", start), ("end", end)):
        if bound is None and answer.get(name) is not None:
            warn(f"the answer's {name!r} is no date: {shown(answer[name])}")
    moment = response.answered_at
    return Stats(
        query=query,
        hostname=answer.get("hostname"),
        path=answer.get("path"),
        timezone=answer.get("timezone"),
        version=answer.get("version"),
        start=start,
        end=end,
        generated_in_ms=answer.get("generated_in_ms"),
        partial=moment is not None and end is not None and moment < end,
        body=response.body,
        requested=requested,
        values=dict(_values(answer, expected, requested, end, moment)),
    )


def _with_totals(requested: Requested) -> Requested:
    """What was asked, as versions 1 and 2 take it: they do not look at fields."""
    others = (name for name in requested.fields if name not in COUNTS)
    return attrs.evolve(requested, fields=(*COUNTS, *others))


def _slowly(
    response: HttpResponse,
    request: HttpRequest,
    expected: Shape,
    requested: Requested,
) -> tuple[dict[str, Any], dict[str, list[Problem]]]:
    """The values that the quick way did not take, and by name what is wrong."""
    from .converter import structure_stats

    data = decoded(response, request)
    if not isinstance(data, dict):
        problem = Problem("expected an object", section="2.3", where="$")
        raise not_as_documented(response, request, [problem])
    answer, wrong = structure_stats(data, expected.types)
    if requested.version < LATEST_SHAPE:
        # Older lists have shapes of their own: they are in raw() alone.
        wrong = {name: found for name, found in wrong.items() if name not in _LISTS}
    return answer, wrong


_LISTS: Final = frozenset((*LISTS, "pages", "histogram", "events"))
_NOTHING_THERE: Final = (
    ": it holds nothing of what was requested, which may mean that the website is "
    "private and needs an API key (section 5)"
)


def _values(
    answer: Mapping[str, Any],
    expected: Shape,
    requested: Requested,
    end: datetime | None,
    moment: datetime | None,
) -> Iterator[tuple[str, Any]]:
    """What was requested, in the document's order."""
    for name in expected.names:
        if name == "seconds_on_page":
            # May be left out where there were too few visits.
            yield name, answer.get(name)
        elif name not in answer:
            continue
        elif name in COUNTS:
            yield name, answer[name]
        elif name == "histogram":
            timezone = answer.get("timezone") or requested.timezone
            entries = read_histogram(
                answer[name],
                interval=requested.interval,
                timezone=timezone,
                end=end,
                moment=moment,
            )
            kind = entry_type(requested.interval)
            yield (
                name,
                Entries(entries, name=name, entry_type=kind, timezone=timezone),
            )
        else:
            yield (
                name,
                Entries(
                    answer[name],
                    name=name,
                    entry_type=get_args(expected.types[name])[0],
                    truncated=len(answer[name]) >= _limit(name, requested),
                ),
            )


def _limit(name: str, requested: Requested) -> float:
    if name != "events":
        return requested.limit
    return _MOST_EVENTS if requested.events == "*" else math.inf


def _utc(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
        # Every moment that was seen ends in Z: one that says nothing means it.
        if moment.tzinfo is None:
            return moment.replace(tzinfo=UTC)
        return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
