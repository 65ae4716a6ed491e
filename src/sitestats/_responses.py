"""From an ``HttpResponse`` to a model, or to the right error.

Each function first judges whether the service said no (``_failures``), then
whether the answer is what the document says, and then, for statistics, whether
it is the answer to the question that was asked.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, get_args
from urllib.parse import unquote

import attrs

from ._entries import Entries
from ._errors import Problem, ResponseError
from ._failures import failure, is_failure, page_title, redirect
from ._histogram import HistogramEntry, read_histogram
from ._hostnames import HostnameError, normalise_hostname
from ._json import JsonValue, NotJsonError, load_json
from ._retry_after import parse_http_date
from ._shape import Shape, shape
from ._stats import FIELDS, LISTS, TOTALS, Stats
from ._warn import warn
from ._wording import shown

if TYPE_CHECKING:
    from ._asked import Asked
    from ._models import AddedWebsite, Website
    from ._query import StatsQuery
    from ._wire import HttpRequest, HttpResponse

_LATEST_SHAPE: Final = 5
"""From this version on, answers have the shape that the document shows."""
_OWN_FIELDS: Final = 3
"""From this version on, the query says which fields it wants."""
_MOST_EVENTS: Final = 1000
_NO_CONTENT: Final = 204
_OK: Final = range(200, 300)
_LOWEST_FAILURE: Final = 400
_PAGE_FILTERS: Final = frozenset(("page", "pages"))
ALL_PAGES: Final = "*"
"""The path that an answer tells when no page was asked for."""


def check(
    response: HttpResponse, request: HttpRequest, *, received: float | None = None
) -> None:
    """Raise the error that *response* is, if it is one.

    Args:
        response: The answer.
        request: What it answers.
        received: When it came, in seconds since 1970. It counts only where the
            answer has no date of its own.

    Raises:
        ServiceError: The service said no, by its status or in its words.
        ResponseError: The status is none that an answer has.
    """
    _judge(response, request, received)


def read_json(
    response: HttpResponse, request: HttpRequest, *, received: float | None = None
) -> JsonValue:
    """The decoded answer of a custom endpoint (section 1); None for 204."""
    if response.status == _NO_CONTENT:
        return None
    return _decoded(response, request, received)


def read_websites(
    response: HttpResponse, request: HttpRequest, *, received: float | None = None
) -> tuple[Website, ...]:
    """The websites of a list (section 4.1).

    The document has them in an object; a bare array is taken as well.
    """
    from ._converter import structure_websites

    data = _decoded(response, request, received)
    path = "$"
    flags = _flags(data)
    if isinstance(data, dict):
        path = "$.websites"
        data = data.get("websites")
    if not isinstance(data, list):
        problem = Problem("expected an array", section="4.1", where=path)
        raise _not_as_documented(response, request, [*flags, problem])
    websites, problems = structure_websites(data, path)
    problems = [*flags, *problems]
    if problems:
        raise _not_as_documented(response, request, problems)
    return tuple(websites)


def read_added(
    response: HttpResponse,
    request: HttpRequest,
    *,
    hostname: str,
    timezone: str | None,
    public: bool,
    warned: bool = True,
    received: float | None = None,
) -> AddedWebsite:
    """The result of adding a website (section 4.2), held against what was asked.

    What came out otherwise is in ``differences`` and, where *warned*, warned
    about: the website exists, and there is no way to take it back.
    """
    from ._converter import structure_added

    data = _decoded(response, request, received)
    added, problems = structure_added(data)
    problems = [*_flags(data), *problems]
    if added is None or problems:
        raise _not_as_documented(
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
        return _same_host(asked, applied)
    return asked == applied


# --- JSONP ------------------------------------------------------------------------


def read_jsonp(
    response: HttpResponse,
    request: HttpRequest,
    callback: str,
    *,
    received: float | None = None,
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
        judged = attrs.evolve(response, body=inside.encode(errors="surrogatepass"))
    data = _judge(judged, request, received)
    if inside is None or page_title(response.body) is not None:
        raise _unreadable(response, request, broken)
    if not isinstance(data, dict):
        raise _unreadable(response, request, "holds no object of statistics")
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
    asked: Asked,
    *,
    received: float | None = None,
) -> Stats:
    """The statistics that *query* asked for (section 4.3).

    Args:
        response: The answer.
        request: What it answers.
        query: What the result is for.
        asked: What the answer is held against.
        received: When the answer came, in seconds since 1970. It counts only
            where the answer has no date of its own; without either, no entry of
            the histogram is marked as partial.

    Raises:
        ServiceError: The service said no.
        ResponseError: The answer is not what the document says, or not about
            what was asked.
    """
    asked = _with_totals(asked)
    wanted = _wanted(asked)
    expected = shape(wanted)
    wrong: dict[str, list[Problem]] = {}
    answer = expected.decode(response.body) if response.status in _OK else None
    if answer is None or not (answer.get("ok", True) and answer.get("success", True)):
        answer, wrong = _slowly(response, request, expected, asked, received)
    problems = [
        *(one for name in wrong if name not in _TOLD for one in wrong[name]),
        *_missing(answer, (name for name in wanted if name not in wrong), asked),
        *_about_something_else(answer, asked),
    ]
    if problems:
        hint = "" if any(name in answer for name in wanted) else _NOTHING_THERE
        raise _not_as_documented(response, request, problems, hint=hint)
    for sentence in _worth_a_look(answer, wrong, query, asked):
        warn(sentence)
    context = _Context(_utc(answer, "end"), lambda: _moment(response, received))
    return Stats(
        query=query,
        hostname=answer.get("hostname"),
        path=answer.get("path"),
        timezone=answer.get("timezone"),
        version=answer.get("version"),
        start=_utc(answer, "start"),
        end=context.end,
        generated_in_ms=answer.get("generated_in_ms"),
        body=response.body,
        asked=asked,
        values=dict(_values(answer, wanted, asked, expected.types, context)),
    )


def _with_totals(asked: Asked) -> Asked:
    """What was asked, as versions 1 and 2 take it: they do not look at fields."""
    if asked.version >= _OWN_FIELDS:
        return asked
    others = (name for name in asked.fields if name not in TOTALS)
    return attrs.evolve(asked, fields=(*TOTALS, *others))


def _wanted(asked: Asked) -> tuple[str, ...]:
    """The names to look for in the answer."""
    fields = tuple(name for name in FIELDS if name in asked.fields)
    return fields if asked.events is None else (*fields, "events")


def _slowly(
    response: HttpResponse,
    request: HttpRequest,
    expected: Shape,
    asked: Asked,
    received: float | None,
) -> tuple[dict[str, Any], dict[str, list[Problem]]]:
    """The values that the quick way did not take, and by name what is wrong."""
    from ._converter import structure_stats

    data = _decoded(response, request, received)
    if not isinstance(data, dict):
        problem = Problem("expected an object", section="2.3", where="$")
        raise _not_as_documented(response, request, [problem])
    answer, wrong = structure_stats(data, expected.types)
    if asked.version < _LATEST_SHAPE:
        # Older lists have shapes of their own: they are in raw() alone.
        wrong = {name: found for name, found in wrong.items() if name not in _LISTS}
    return answer, wrong


_LISTS: Final = frozenset((*LISTS, "pages", "histogram", "events"))
_NOTHING_THERE: Final = (
    ": it holds nothing of what was requested, which may mean that the website is "
    "private and needs an API key (section 5)"
)
_TOLD: Final = frozenset(
    ("path", "timezone", "version", "start", "end", "generated_in_ms")
)
"""What an answer tells about itself, and may leave out."""


def _values(
    answer: Mapping[str, Any],
    wanted: Iterable[str],
    asked: Asked,
    types: Mapping[str, Any],
    context: _Context,
) -> Iterator[tuple[str, Any]]:
    """What was requested, in the document's order."""
    for name in wanted:
        if name == "seconds_on_page":
            # May be left out where there were too few visits.
            yield name, answer.get(name)
        elif name not in answer:
            continue
        elif name in TOTALS:
            yield name, answer[name]
        elif name == "histogram":
            entries = read_histogram(
                answer[name],
                interval=asked.interval,
                timezone=answer.get("timezone") or asked.timezone,
                end=context.end,
                moment=context.moment(),
            )
            yield name, Entries(entries, name=name, entry_type=HistogramEntry)
        else:
            yield (
                name,
                Entries(
                    answer[name],
                    name=name,
                    entry_type=get_args(types[name])[0],
                    truncated=len(answer[name]) >= _limit(name, asked),
                ),
            )


def _limit(name: str, asked: Asked) -> float:
    if name != "events":
        return asked.limit
    return _MOST_EVENTS if asked.events == "*" else math.inf


def _missing(
    answer: Mapping[str, Any], wanted: Iterable[str], asked: Asked
) -> Iterator[Problem]:
    if asked.version < _LATEST_SHAPE:
        return
    for name in wanted:
        if name not in answer and name != "seconds_on_page":
            yield Problem(
                "was requested and is missing", section="2.3", where=f"$.{name}"
            )
    if isinstance(asked.events, tuple) and "events" in answer:
        # The service stores names in lower case.
        counted = {event.name.lower() for event in answer["events"]}
        for name in asked.events:
            if name.lower() not in counted:
                yield Problem(
                    f"the event {shown(name)} was requested and is missing",
                    section="4.3",
                    where="$.events",
                )


def _about_something_else(answer: Mapping[str, Any], asked: Asked) -> Iterator[Problem]:
    hostname = answer.get("hostname")
    if hostname is not None and not _same_host(asked.hostname, hostname):
        yield Problem(
            f"the answer is about {shown(hostname)}, and {asked.hostname!r} was asked "
            "for",
            section="4.3",
            where="$.hostname",
        )


def _same_host(asked: str, answered: str) -> bool:
    if asked == answered:
        return True
    try:
        return normalise_hostname(asked) == normalise_hostname(answered)
    except HostnameError:
        return False


def _worth_a_look(
    answer: Mapping[str, Any],
    wrong: Mapping[str, list[Problem]],
    query: StatsQuery,
    asked: Asked,
) -> Iterator[str]:
    """How the answer differs from the question though its numbers may be right."""
    path = answer.get("path")
    if asked.path is not None:
        if path is not None and asked.path not in {path, unquote(path)}:
            yield _differs("page", path, asked.path)
    elif path not in {None, ALL_PAGES} and not _PAGE_FILTERS & query.params().keys():
        yield _differs("page", path, "all pages")
    timezone = answer.get("timezone")
    if timezone is not None and asked.timezone not in {None, timezone}:
        yield _differs("time zone", timezone, asked.timezone)
    version = answer.get("version")
    if version is not None and asked.version != version:
        yield _differs("version", version, asked.version)
    # What follows is in no document, so it is no reason to lose the numbers.
    for name, problems in wrong.items():
        yield f"the answer's {name!r} is not used: {problems[0]}"
    for name in ("start", "end"):
        if answer.get(name) is not None and _utc(answer, name) is None:
            yield f"the answer's {name!r} is not used: {shown(answer[name])} is no date"


def _differs(what: str, got: object, asked: object) -> str:
    return f"the answer has the {what} {shown(got)}, and {shown(asked)} was asked for"


def _utc(answer: Mapping[str, Any], name: str) -> datetime | None:
    text = answer.get(name)
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


# --- judging ----------------------------------------------------------------------


def _judge(
    response: HttpResponse, request: HttpRequest, received: float | None
) -> JsonValue:
    """The decoded body of an answer that says yes; None when it is no JSON."""
    pointing_elsewhere = redirect(response, request)
    if pointing_elsewhere is not None:
        raise pointing_elsewhere
    try:
        data = load_json(response.body)
    except NotJsonError:
        data = None
    if response.status >= _LOWEST_FAILURE or (
        response.status in _OK and is_failure(data)
    ):
        moment = _moment(response, received)
        raise failure(response, request, data, moment=moment)
    if response.status not in _OK:
        raise _unreadable(
            response, request, f"has the status {response.status}, which no answer has"
        )
    return data


def _decoded(
    response: HttpResponse, request: HttpRequest, received: float | None
) -> JsonValue:
    """The decoded body of an answer that says yes, in JSON."""
    data = _judge(response, request, received)
    if data is None:
        try:
            data = load_json(response.body)
        except NotJsonError as error:
            raise _unreadable(response, request, str(error)) from None
    return data


def _moment(response: HttpResponse, received: float | None) -> datetime | None:
    """When the service answered, by its own clock if it tells."""
    date = response.headers.get("date")
    moment = None if date is None else parse_http_date(date)
    if moment is None and received is not None:
        return datetime.fromtimestamp(received, UTC)
    return moment


@attrs.frozen
class _Context:
    """What the histogram's entries depend on besides themselves."""

    end: datetime | None
    moment: Callable[[], datetime | None]


def _unreadable(
    response: HttpResponse, request: HttpRequest, why: str
) -> ResponseError:
    title = page_title(response.body)
    if title is not None:
        named = f" with the title {shown(title)}" if title else ""
        why = f"is a page of HTML{named}, not JSON: check the base address and the path"
    return ResponseError(
        f"the answer to {request} {why}", body=response.body, request=request
    )


def _not_as_documented(
    response: HttpResponse,
    request: HttpRequest,
    problems: Iterable[Problem],
    *,
    what: str = "",
    hint: str = "",
) -> ResponseError:
    what = what or f"the answer to {request}"
    return ResponseError(
        f"{what} is not what the service's document says{hint}",
        problems=problems,
        body=response.body,
        request=request,
    )
