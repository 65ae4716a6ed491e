"""An address of the service, read back into a query.

The service's data is at the address of its dashboard with ``.json`` behind it
(section 1), so both are read by the same rules.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final, cast
from urllib.parse import parse_qsl, unquote

from ._errors import Problem, QueryError
from ._fields import FieldName
from ._filters import METADATA
from ._hostnames import BaseAddress
from ._query import StatsQuery, base_of, with_doubt, with_filters, with_metadata
from ._rules import FILTERS, Interval, broken
from ._wording import shown

_ADDRESS: Final = re.compile(
    r"(?P<root>[A-Za-z]+://[^/?#]*)(?P<path>[^?#]*)(?:\?(?P<query>[^#]*))?(?:#.*)?",
    re.DOTALL,
)
_NUMBER: Final = re.compile(r"[0-9]{1,9}")
_FLAGS: Final = {"true": True, "false": False}
_DATA: Final = ".json"
_PERIOD: Final = frozenset(("start", "end"))


def read(address: object, base_url: str | BaseAddress | None) -> StatsQuery:
    """Read *address*; see ``StatsQuery.from_url``."""
    hostname, page, pairs = _take_apart(address, base_url)
    params = dict(pairs)
    # What makes the address unreadable, and what is merely wrong in it.
    problems, doubts = _twice(pairs), list[Problem]()
    # Any query will do to set the rest on, so that all problems are told.
    query = StatsQuery("example.com")
    try:
        query = StatsQuery(hostname)
    except QueryError as error:
        problems += error.problems
    if page is not None:
        try:
            query = query.path(page)
        except QueryError as error:
            problems += error.problems
    # The two ends of a period have one step.
    period = {name: text for name, text in params.items() if name in _PERIOD}
    groups = [{name: params[name]} for name in params if name not in _PERIOD]
    for group in (period, *groups):
        try:
            query = _with_params(query, group)
        except QueryError as error:
            doubts += error.problems
            try:
                query = _with_doubts(query, group, error.problems)
            except QueryError as worse:
                problems += worse.problems
    if problems:
        raise QueryError(dict.fromkeys([*problems, *doubts]))
    return query


def _twice(pairs: list[tuple[str, str]]) -> list[Problem]:
    return [
        _problem(
            f"the parameter {shown(name)} is there twice: leave one out",
            rule="address-once",
        )
        for name, count in Counter(name for name, _ in pairs).items()
        if count > 1
    ]


def _with_doubts(
    query: StatsQuery, params: Mapping[str, str], doubts: tuple[Problem, ...]
) -> StatsQuery:
    for name, text in params.items():
        query = with_doubt(query, name, text, doubts)
        # The problems of a period are told once, with its first parameter.
        doubts = ()
    return query


def _take_apart(
    address: object, base_url: str | BaseAddress | None
) -> tuple[str, str | None, list[tuple[str, str]]]:
    """The host name, the page, and the parameters, all decoded."""
    if not isinstance(address, str) or (match := _ADDRESS.fullmatch(address)) is None:
        raise QueryError(
            [
                _problem(
                    "give the whole address as a str, such as "
                    "'https://stats.example.org/example.com?country=NL'"
                )
            ]
        )
    root = base_of(match["root"], "from_url")
    base = root if base_url is None else base_of(base_url, "from_url")
    try:
        path = _decoded(match["path"])
        prefix = _decoded(base.prefix)
        pairs = parse_qsl(match["query"] or "", keep_blank_values=True, errors="strict")
    except ValueError:
        raise QueryError(
            [_problem("the address has percent-encoding that is not UTF-8")]
        ) from None
    if root.origin != base.origin or not path.startswith(f"{prefix}/"):
        raise QueryError(
            [_problem(f"the address is not one below the base address {base}")]
        )
    # One suffix: a page may be called /data.json itself.
    below = path.removeprefix(prefix).removesuffix(_DATA)[1:]
    hostname, slash, page = below.partition("/")
    if not page and not path.endswith(_DATA):
        # Browsers and people put a slash behind a host name.
        return hostname, None, pairs
    return hostname, f"/{page}" if slash else None, pairs


def _decoded(path: str) -> str:
    return unquote(path, errors="strict")


def _problem(message: str, rule: str = "address") -> Problem:
    return broken(rule, message, "from_url")


def _with_params(query: StatsQuery, params: Mapping[str, str]) -> StatsQuery:
    """*query* with these parameters set by their own step, which checks them."""
    if params.keys() <= _PERIOD:
        return query.between(**params)
    ((name, text),) = params.items()
    if name in _STEPS:
        return _STEPS[name](query, text)
    if name in FILTERS:
        return with_filters(query, {name: text})
    if name.startswith(METADATA):
        return with_metadata(query, {name.removeprefix(METADATA): text}, {})
    return query.extra_param(name, text)


def _number(text: str) -> int:
    # What is no number goes on as it is, for the step to refuse.
    return int(text) if _NUMBER.fullmatch(text) else cast("int", text)


def _flag(text: str) -> bool:
    return _FLAGS[text] if text in _FLAGS else cast("bool", text)


_STEPS: Final[Mapping[str, Callable[[StatsQuery, str], StatsQuery]]] = {
    "version": lambda query, text: query.version(_number(text)),
    "limit": lambda query, text: query.limit(_number(text)),
    "timezone": lambda query, text: query.timezone(text),
    "info": lambda query, text: query.info(_flag(text)),
    "interval": lambda query, text: query.interval(cast("Interval", text)),
    "fields": lambda query, text: query.fields(
        *cast("list[FieldName]", text.split(","))
    ),
    "events": lambda query, text: (
        query.all_events() if text == "*" else query.events(*text.split(","))
    ),
    "pages": lambda query, text: with_filters(query, {"pages": text.split(",")}),
}
