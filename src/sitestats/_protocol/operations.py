"""Operations of the service as sans-I/O flows, one function for each."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Concatenate, Final, ParamSpec, TypeVar

from sitestats._base.errors import (
    AuthenticationError,
    ConfigurationError,
    InvalidInputError,
    InvalidResponseError,
    PermissionDeniedError,
    Problem,
    ReadOnlyError,
    RequestTimeoutError,
    SiteStatsError,
    StatusError,
    warn,
)
from sitestats._base.text import shown
from sitestats._base.zone_words import hidden_meaning
from sitestats._configuration.settings import (
    API_KEY_VARIABLE,
    USER_ID_VARIABLE,
    credentials_from,
)
from sitestats._query.builder import StatsQuery, queries_in, query_against, validated
from sitestats._reading.decoding import read_json, read_jsonp
from sitestats._reading.errors import is_own
from sitestats._reading.statistics import read_stats
from sitestats._reading.websites import read_added, read_websites
from sitestats._results.stats import with_warnings
from sitestats._wire.messages import Credentials, HttpResponse

from .flow import NO_DEADLINE, LookUp, StoreResponse, now, send_with_retries
from .requests import (
    add_request,
    custom_request,
    jsonp_request,
    list_request,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from sitestats._configuration.settings import Settings
    from sitestats._query.builder import Against
    from sitestats._results.outcomes import Outcome
    from sitestats._results.stats import Stats
    from sitestats._results.websites import AddedWebsite, WebsiteList
    from sitestats._wire.messages import HttpRequest, JsonValue

    from .flow import Deadline, Flow, Moment
    from .session import Session

T = TypeVar("T")
P = ParamSpec("P")


def list_websites(session: Session) -> Flow[WebsiteList]:
    """Every website of the user (section 4.1)."""
    request = list_request()
    response = yield from _send(request, session)
    return read(session.settings, read_websites, response, request)


def add_website(
    session: Session,
    hostname: str,
    *,
    timezone: str | None,
    public: bool,
    label: str | None,
    warned: bool = True,
) -> Flow[AddedWebsite]:
    """Add one website to the user's default team (section 4.2).

    Without *warned*, differences from the arguments are in the result alone, a
    response of which a value can't be read is an error, and it was told before that a
    time zone is not what many people mean by its name.
    """
    request = add_request(hostname, timezone=timezone, public=public, label=label)
    if warned and timezone is not None and (meaning := hidden_meaning(timezone)):
        warn(meaning)
    response = yield from _send(request, session)
    asked = hostname, timezone, public
    return read(session.settings, read_added, response, request, asked, warned=warned)


def get_stats(
    session: Session,
    query: StatsQuery,
    started: Moment | None = None,
    deadline: Deadline | None = None,
    *,
    fresh: bool = False,
) -> Flow[Stats]:
    """The statistics that *query* requests (section 4.3).

    Where the client has a store, a stored response is used unless *fresh*. A call that
    has not *started* starts now. One of many has a *deadline*, and leaves warnings to
    where its outcome is taken.
    """
    parameters = validated(query, has_key=session.settings.api_key is not None)
    request = parameters.request
    if deadline is None:
        for sentence in parameters.without_effect:
            warn(sentence)
    if session.settings.store is not None and not fresh:
        started = started or (yield from now())
        stored = yield LookUp(parameters, started.utc)
        if isinstance(stored, HttpResponse):
            # An earlier version of this package may have stored what is refused now.
            with suppress(SiteStatsError):
                clock = started.utc
                return read_stats(
                    stored, request, query, parameters, looked_up_at=clock
                )
    response = yield from send_with_retries(request, session, started, deadline)
    stats = read(session.settings, read_stats, response, request, query, parameters)
    if session.settings.store is not None:
        yield StoreResponse(parameters, response, stats, (yield from now()).utc)
    if deadline is None and stats._warnings:  # noqa: SLF001 - most results have none
        with_warnings(stats)
    return stats


def pairs_to_compare(
    session: Session, given: StatsQuery | Iterable[StatsQuery], against: Against
) -> list[tuple[StatsQuery, StatsQuery]]:
    """Each query, with the one for the period *against* it.

    Raises:
        InvalidInputError: A query has no such period, or is not a query; or only one is
            given, and it or the other one breaks a rule.
    """
    if hasattr(given, "compare_to"):
        message = "results are compared by .compare_to(other)"
        raise InvalidInputError([Problem(message, where="query")])
    queries = [given] if isinstance(given, StatsQuery) else queries_in(given, "query")
    pairs = [(query, query_against(query, against)) for query in queries]
    if isinstance(given, StatsQuery):
        for query in pairs[0]:
            validated(query, has_key=session.settings.api_key is not None)
    return pairs


def get_outcome(
    session: Session,
    query: StatsQuery,
    index: int,
    deadline: Deadline,
    *,
    fresh: bool,
) -> Flow[Outcome]:
    """The outcome of the query at *index* of many, which share *deadline*."""
    # A program without many queries needs no outcomes.
    from sitestats._results.outcomes import Failed, Succeeded

    if deadline is not NO_DEADLINE and deadline.is_over((yield from now())):
        return Failed(query, index, deadline.error(query))
    try:
        stats = yield from get_stats(session, query, None, deadline, fresh=fresh)
    except RequestTimeoutError as error:
        is_over = deadline.is_over((yield from now()))
        return Failed(query, index, deadline.error(query, error) if is_over else error)
    except SiteStatsError as error:
        return Failed(query, index, error)
    return Succeeded(query, index, stats)


def get_jsonp(session: Session, query: StatsQuery, callback: str) -> Flow[str]:
    """The statistics wrapped in a call of *callback*, as served (section 4.3)."""
    parameters = validated(query, has_key=session.settings.api_key is not None)
    request = jsonp_request(parameters, callback)
    response = yield from _send(request, session)
    return read(session.settings, read_jsonp, response, request, callback)


def request_json(
    session: Session,
    method: str,
    path: str,
    *,
    params: Mapping[str, str | bool | float | None] | None,
    json: JsonValue,
) -> Flow[JsonValue]:
    """The decoded response of a custom endpoint (section 1)."""
    request = custom_request(method, path, params=params, json=json)
    response = yield from _send(request, session)
    return read(session.settings, read_json, response, request)


_ADMIN: Final = {
    "api_key": ("API key", API_KEY_VARIABLE),
    "user_id": ("user ID", USER_ID_VARIABLE),
}
"""The credentials of the Admin API, and their variables."""


def _send(request: HttpRequest, session: Session) -> Flow[HttpResponse]:
    """Send *request* with retries, unless the settings do not permit it."""
    settings = session.settings
    if settings.read_only and request.method != "GET":
        raise ReadOnlyError(f"{settings.why_read_only}, so {request} was not sent")
    missing = [_ADMIN[name] for name in _ADMIN if getattr(settings, name) is None]
    if missing and request.credentials is Credentials.KEY_AND_USER:
        if settings.profile:
            what = " and ".join(f"no {title}" for title, _ in missing)
            advice = f"the profile {shown(settings.profile)} has {what}"
        elif settings.withheld:
            names = " and ".join(settings.withheld)
            advice = f"Client.from_env(base_url) sends {names} to this address"
        else:
            advice = f"set {' and '.join(variable for _, variable in missing)}"
        message = "the Admin API needs an API key and a user ID (section 5)"
        raise ConfigurationError(f"{message}: {advice}")
    return (yield from send_with_retries(request, session))


def read(
    settings: Settings,
    reader: Callable[Concatenate[HttpResponse, HttpRequest, P], T],
    response: HttpResponse,
    request: HttpRequest,
    *args: P.args,
    **options: P.kwargs,
) -> T:
    """What *reader* makes of *response*. An error shows no credential, and tells where
    refused credentials are from, or which proxy it came by.
    """
    try:
        return reader(response, request, *args, **options)
    except (StatusError, InvalidResponseError) as error:
        if isinstance(error, (AuthenticationError, PermissionDeniedError)):
            error.credentials_from = credentials_from(settings, request.credentials)
        error.message += _by_proxy(settings, response)
        # The frames that have read the response have it as it came.
        raise error.with_traceback(None) from None


def _by_proxy(settings: Settings, response: HttpResponse) -> str:
    """Which proxy a response came by that the service itself may not have sent."""
    if settings.proxy is None or is_own(response):
        return ""
    source = settings.sources["proxy"]
    return f"; it came by the proxy {settings.shown_proxy}, from {source}"
