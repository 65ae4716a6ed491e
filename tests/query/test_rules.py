"""The rules of the service's document: what keeps each one, and what breaks it.

The tables of parameters are read twice: by the builder, from an address, and by the
emulator, as a request. Neither was written by looking at the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from functools import partial
from itertools import chain, combinations
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bare_client import NOW, add, bare_client
from both_clients import QUERY as Q
from both_clients import faked, opened
from inside import FIELDS, LATEST_VERSION, RULES, SENT_VERSION
from query_strategies import queries
from sitestats import InvalidInputError, SiteStatsWarning, StatsQuery
from sitestats.emulator import Emulator

SEARCH = "*abcdefghijkl*"
"""A contains search with twelve characters, the fewest that are allowed."""
TEXT_FILTERS = [
    *("page", "country", "referrer", "browser_name", "os_name", "device_type"),
    *("utm_source", "utm_medium", "utm_campaign", "utm_content", "utm_term"),
]
FILTERS = [*TEXT_FILTERS, "pages"]


def of(name: str, *values: str, **more: str) -> Iterator[dict[str, str]]:
    """The parameters of a query with each of *values*."""
    return ({name.replace("__", "."): value, **more} for value in values)


NO_DAYS = [
    *("", "2026-2-3", "20260203", "2026-02-03T00:00:00Z", "2026-W10", "2026-02-03\n"),
    *("Today", " today", "tomorrow", "\u0662026-02-03", "today-9999999d"),
    *(
        "today+1d",
        "today-1w",
        "today-d",
        "today-07d",
        "today--1d",
        "today-1dx",
        "yesterday-1d",
    ),
]
NO_DATES = ["2026-02-30", "2025-02-29", "0000-01-01", "2026-13-01"]
BROKEN: dict[str, list[dict[str, str]]] = {
    "version-range": [
        *of("version", "0", str(LATEST_VERSION + 1), "-1", "6.0", "x", "")
    ],
    "limit-range": [
        *of("limit", "0", "1001", "-1", "1.5", "ten", "", "+5", "\u0665", "1e2")
    ],
    "interval-name": [*of("interval", "", "hours", "Day", "minute", "day ")],
    "interval-version": [*of("version", *"12345", interval="hour")],
    "info-flag": [*of("info", "", "yes", "True", "0")],
    "timezone-name": [
        *of("timezone", "", "utc", "europe/amsterdam", "Europe/Nowhere", "+02:00"),
        *of("timezone", "EST5EDT4", "../UTC", "localtime", "UTC ", "Europe"),
    ],
    "field-name": [
        *of("fields", "pageview", "pageviews,", "pages, visitors", "Pages", "*"),
        *of("fields", "", version="3"),
    ],
    "fields-or-events": [*of("-fields", "", version="3"), *of("-fields", "")],
    "event-name": [
        *of("events", "", "a,", ",a", "a*", "*a", "a*b", "**", "*,a", "a,*")
    ],
    "period-day": [*of("start", *NO_DAYS), *of("end", *NO_DAYS)],
    "period-date": [*of("start", *NO_DATES), *of("end", *NO_DATES)],
    "period-order": [
        *of("end", "yesterday", start="today"),
        *of("end", "today-10d", start="today-9d"),
        *of("end", "2026-03-01", start="2026-03-02"),
    ],
    "filter-empty": [
        *chain(*(of(name, "") for name in FILTERS)),
        *of("pages", "/a,,/b", ","),
    ],
    "filter-star": [
        *chain(*(of(name, "/a*b", "*/a", "/a**") for name in TEXT_FILTERS)),
        *of("pages", "/a,/b*/c", "/a**", "*/a"),
    ],
    "device-type": [
        *of("device_type", "phone", "Mobile", "mobil", "phone*", "bile*", " tv")
    ],
    "contains-filter": [
        *chain(*(of(n, SEARCH) for n in TEXT_FILTERS if n != "page")),
    ],
    "contains-star": [*of("page", "*abcdefghijkl*m*")],
    "contains-length": [*of("page", "**", "*abcdefghijk*", "*/abc/defgh//ijk/*")],
    "contains-one-pattern": [
        *of("pages", f"{SEARCH},/b", f"{SEARCH},{SEARCH}"),
        *of("pages", "/b", page=SEARCH),
    ],
    "contains-fields": [
        *of("page", SEARCH, fields="pageviews,pages"),
        *of("page", SEARCH, version="2"),
    ],
    "contains-events": [*of("events", "a", "*", page=SEARCH)],
    "metadata-key": [{f"metadata.{key}": "x"} for key in ("a-b", "é", "a.b", "a\n")],
    "metadata-version": [*of("version", *"12345", metadata__a="b")],
}
"""Parameters that break one rule, which both sides refuse."""
KEPT: list[dict[str, str]] = [
    *of("version", *"123456"),
    *of("limit", "1", "1000"),
    *of("interval", "hour", "day", "week", "month", "year"),
    *of("info", "true", "false"),
    *of("timezone", "UTC", "America/Argentina/Buenos_Aires", "Etc/GMT+5", "EST5EDT"),
    *of("fields", *FIELDS, ",".join(FIELDS)),
    *of("events", "a,b c,d", "*", " "),
    *of("start", "2024-02-29", "0033-04-03", "today", "yesterday", "today-30d"),
    *of("end", "2999-12-31", "today"),
    *of("end", "2026-03-02", "2026-03-31", start="2026-03-02"),
    *chain(*(of(n, "tv" if n == "device_type" else "/x", "*", "t*") for n in FILTERS)),
    *of("device_type", "mobile", "tablet", "desktop", "tv", "mob*"),
    *of("pages", "/a,/b*", "*,/a", SEARCH, "*/abc/def/ghi/jkl/*"),
    *of("page", "/a,b", "/", SEARCH, "*日本語日本語日本語日本語*"),
    *of("pages", "/a", page="/b"),
    *of("fields", "pageviews,visitors,histogram", page=SEARCH, country="N*"),
    *of("metadata.a_B_1", "", "pro", "true", "5", "2026-03-01T00:00:00Z"),
]
"""Parameters that both sides accept."""


def address(params: dict[str, str]) -> str:
    """What a program without any checks would request."""
    base = {"version": str(SENT_VERSION), "fields": "pageviews", "info": "false"}
    left_out = {name[1:] for name in params if name.startswith("-")}
    pairs = {
        name.replace("__", "."): value
        for name, value in (base | params).items()
        if name not in left_out and not name.startswith("-")
    }
    return f"/example.com.json?{urlencode(pairs)}"


def read(params: dict[str, str]) -> StatsQuery:
    """The builder's query with *params*."""
    return StatsQuery.from_url(f"https://a.example{address(params)}")


def broken_rules(params: dict[str, str], *, has_key: bool = True) -> set[str]:
    """The rules that the builder finds broken, at once or by all steps together."""
    try:
        problems = read(params).problems(has_key=has_key)
    except InvalidInputError as error:
        problems = tuple(error.problems)
    assert all(one.section == RULES[one.rule] for one in problems)
    return {one.rule for one in problems}


def with_website() -> Emulator:
    """An emulator with the website of the queries."""
    emulator = Emulator(now=NOW, contains_per_minute=None)
    emulator.add_website("example.com")
    return emulator


@pytest.fixture(scope="module")
def respond() -> Iterator[Callable[..., Any]]:
    """The emulator's response to parameters."""
    with bare_client(with_website()) as client:
        yield lambda params: client.get(address(params))


MAY_WARN = pytest.mark.filterwarnings("ignore::sitestats.SiteStatsWarning")


@MAY_WARN
@pytest.mark.parametrize("rule", BROKEN)
def test_both_sides_refuse_what_breaks_a_rule(rule: str, respond: Any) -> None:
    """The builder names the rule; the emulator gives 400 (4.3, 8, 9)."""
    for params in BROKEN[rule]:
        assert broken_rules(params) == {rule}, params
        response = respond(params)
        assert response.status_code == 400, params
        assert response.json()["ok"] is False
        assert "(section " in response.json()["error"]


@MAY_WARN
def test_both_sides_accept_what_keeps_the_rules(respond: Any) -> None:
    """The document allows it: it is sent as it is, and the emulator gives 200 (4.3)."""
    for params in KEPT:
        query = read(params)
        query.validate(has_key=True)
        assert query.params().items() >= params.items()
        assert respond(params).status_code == 200, params


@MAY_WARN
@pytest.mark.parametrize("version", ["1", "2"])
def test_old_versions_need_no_fields(version: str, respond: Any) -> None:
    """Each response of theirs has every list."""
    for params in of("-fields", "", version=version):
        read(params).validate(has_key=True)
        assert respond(params).status_code == 200


LEFT_TO_THE_SERVICE: list[dict[str, str]] = [
    *of("start", "2026-03-16"),  # its end is today, and the builder has no clock
    *of("end", "2026-01-01"),
    *of("end", "9999-12-31", start="0001-01-01", fields="histogram"),
]


# -- what is wrong before there is a text to send


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """A client that must not send anything: no route takes it."""
    with faked(), opened("blocking") as client:
        yield client


def calls(step: Callable[..., object], *values: object) -> list[Callable[[], object]]:
    """A call of *step* with each of *values*; a dict's are given by their names."""
    return [
        partial(step, **one) if isinstance(one, dict) else partial(step, one)
        for one in values
    ]


NOON = datetime(2026, 3, 1, 12)  # noqa: DTZ001 - without a zone it is not a moment
WRONG: dict[str, list[Callable[[], object]]] = {
    "hostname": calls(Q.website, "https://a.example", None, ["a.example", "b.example"]),
    "path-slash": calls(Q.path, "contact", "", None),
    "path-root": calls(Q.path, "/"),
    "path-star": calls(Q.path, "/blog/*", "/a*b"),
    "path-segment": calls(Q.path, "/a/../b", "/..", "/.", "/a\r\n", "/\x9b"),
    "text": [*calls(Q.path, "/\ud800"), *calls(Q.where, {"pages": ["/a", "\udfff"]})],
    "version-range": calls(Q.version, *(LATEST_VERSION + 1, str(LATEST_VERSION), True)),
    "limit-range": calls(Q.limit, *(0, 1001, True, "50", 50.0, None)),
    "field-name": [Q.fields, *calls(Q.fields, ["pages"], "a,b")],
    "event-name": [Q.events, *calls(Q.events, "a,b", "", "*", 5)],
    "info-flag": calls(Q.info, {"wanted": 1}, {"wanted": "true"}),
    "interval-name": calls(Q.interval, "Day", None),
    "timezone-name": calls(Q.timezone, "utc", UTC),
    "period-day": calls(Q.on, 20260301, "2026-03", None),
    "period-date": [*calls(Q.on, "2026-02-29"), *calls(Q.during, "2026-W54")],
    "period-naive": calls(Q.last(3).pinned, {"timezone": "UTC", "now": NOON}),
    "period-order": calls(Q.between, {"start": "2026-03-02", "end": date(2026, 3, 1)}),
    "period-days": [
        *calls(
            Q.last, *(0, 100_000, True, "30", 1.0, {"weeks": 0}, {"months": 10_000})
        ),
        *calls(Q.last, {}, {"days": 3, "months": 1}, {"days": 7, "today": 1}),
        *calls(Q.last, {"weeks": 1, "today": True}),
    ],
    "period-unit": [
        *calls(Q.during, "march", "2026-3", "2026-Q5", "", 10**5000),
        *[Q.each, *calls(Q.each, "hour"), *calls(Q.previous, "day")],
    ],
    "period-words": [*calls(Q.last(30).each, "month"), *calls(Q.each, "day")],
    "period-zone": [Q.last(3).pinned],
    "filter-name": calls(Q.where, {"countries": "NL"}, {"path": None}),
    "filter-text": [
        *calls(Q.where, {"country": 5}, {"country": ["NL"]}),
        *calls(Q.where, {"pages": 5}, {"pages": ["/a", 5]}),
    ],
    "filter-empty": calls(Q.where, {"country": ""}, {"pages": []}),
    "pages-comma": calls(Q.where, {"pages": "/a,/b"}, {"pages": ["/b,c"]}),
    "metadata-key": [
        *calls(Q.where_metadata, {"a-b": 1}),
        lambda: Q.where_metadata({5: 1}),
    ],
    "metadata-value": [
        partial(Q.where_metadata, a=value)
        for value in (float("nan"), float("-inf"), ["a"], NOON.date(), NOON)
    ],
    "extra-name": [lambda: Q.extra_param("", "a")],
    "extra-value": [lambda: Q.extra_param("a", ["b"])],
    "callback-step": [lambda: Q.extra_param("callback", "show")],
    "address": calls(
        StatsQuery.from_url,
        *(None, "x.example/example.com", "https://a.example/b.cd?country=%ff"),
    ),
    "address-parameter": calls(
        StatsQuery.from_url,
        *("https://a.example/b.cd?x=1", "https://a.example/b.cd?limit=1&limit=2"),
    ),
}
"""Steps that are refused at once."""
CALLS: dict[str, list[Callable[[Any], object]]] = {
    "callback-name": [lambda c: c.stats.get_jsonp(Q, callback=5)],
    "website-hostname": [
        lambda c: c.websites.add(""),
        lambda c: c.websites.add("localhost"),
    ],
    "website-timezone": [
        lambda c, zone=zone: c.websites.add("a.example", timezone=zone)
        for zone in ("utc", "UTC+3", "", "+02:00", "Mars/Base", 5, True)
    ],
    "website-public": [lambda c: c.websites.add("a.example", public="yes")],
    "website-label": [lambda c: c.websites.add("a.example", label=5)],
    "custom-method": [
        lambda c, method=method: c.request(method, "/a")
        for method in ("", "CONNECT", "TRACE", "GET\r\n", "G T", None, 5)
    ],
    "custom-path": [lambda c: c.request("GET", "//a")],
    "custom-params": [
        lambda c, params=params: c.request("GET", "/a", params=params)
        for params in ({"a": [5]}, {"a": float("nan")}, {1: "a"})
    ],
    "custom-body": [
        lambda c, body=body: c.request("POST", "/a", json=body)
        for body in ({1, 2}, float("inf"), object)
    ],
}
"""Calls that are refused before anything is sent."""


@pytest.mark.parametrize("rule", [*WRONG, *CALLS])
def test_a_wrong_argument_is_refused_at_once(rule: str, client: Any) -> None:
    """The error names its rule and section in one printable line."""
    calls = [partial(call, client) for call in CALLS.get(rule, [])]
    for call in [*WRONG.get(rule, []), *calls]:
        with pytest.raises(InvalidInputError) as caught:
            call()
        (problem,) = caught.value.problems
        assert (problem.rule, problem.section) == (rule, RULES[rule])
        assert problem.where
        assert str(problem).isprintable()
        assert f"section {problem.section}" in str(caught.value)


PLUS_TWO = timezone(timedelta(hours=2))
MOMENT = datetime(2026, 3, 1, 23, 30, tzinfo=UTC)
SENT: list[tuple[StatsQuery, dict[str, str | None]]] = [
    (Q, {"version": str(SENT_VERSION), "limit": None, "start": None, "end": None}),
    (Q.fields(*reversed(FIELDS), "pages"), {"fields": ",".join(FIELDS)}),
    (Q.between(date(2026, 3, 1)), {"start": "2026-03-01", "end": None}),
    (Q.where(pages=(f"/{n}" for n in range(2))), {"pages": "/0,/1"}),
    (Q.where_metadata({"class": "b"}, self="c"), {"metadata.self": "c"}),
    (Q.events("a", "b", "a"), {"events": "a,b"}),
    (Q.all_events(), {"events": "*"}),
    (Q.extra_param("a", value=True), {"a": "true"}),
    (Q.extra_param("a", 1).extra_param("a", None), {"a": None}),
    (Q.extra_param("fields", "bounces"), {"fields": "bounces"}),
    *(
        (Q.where_metadata(a=value), {"metadata.a": text})
        for value, text in [
            (True, "true"),
            (-7, "-7"),
            (5.0, "5"),
            (-0.0, "0"),
            (1e-7, "0.0000001"),
            (1e22, "1" + 22 * "0"),
            (datetime(2026, 3, 1, 1, tzinfo=PLUS_TWO), "2026-02-28T23:00:00Z"),
            (MOMENT.replace(microsecond=123_456), "2026-03-01T23:30:00.123456Z"),
        ]
    ),
]


def test_arguments_become_texts() -> None:
    """Each argument is sent in the document's form."""
    for query, sent in SENT:
        query.validate(has_key=True)
        assert {name: query.params().get(name) for name in sent} == sent, query


# -- rules that span steps

POINTS: dict[str, tuple[str, Callable[[StatsQuery], StatsQuery]]] = {
    "a second pattern": ("contains-one-pattern", lambda q: q.where(pages="/a")),
    "a path": ("path-or-page", lambda q: q.path("/a")),
    "other fields": ("contains-fields", lambda q: q.fields("pageviews", "pages")),
    "events": ("contains-events", lambda q: q.events("signup")),
    "no key": ("contains-key", lambda q: q),
    "hours": ("interval-version", lambda q: q.interval("hour").version(5)),
    "metadata": ("metadata-version", lambda q: q.where_metadata(a=1).version(5)),
}


@pytest.mark.parametrize("count", range(len(POINTS) + 1))
def test_all_broken_rules_are_reported_together(count: int) -> None:
    """The error of a query that breaks several rules has each, and no other."""
    for names in combinations(POINTS, count):
        query = Q.where(page=SEARCH)
        for name in names:
            query = POINTS[name][1](query)
        has_key = "no key" not in names
        rules = {POINTS[name][0] for name in names}
        assert {p.rule for p in query.problems(has_key=has_key)} == rules, names
        if rules:
            with pytest.raises(InvalidInputError) as caught:
                query.validate(has_key=has_key)
            assert {p.rule for p in caught.value.problems} == rules


def test_a_call_reports_each_of_its_wrong_arguments() -> None:
    """A step does not stop at the first wrong argument."""
    for call, count in (
        (lambda: Q.between("whenever", "2026-02-30"), 2),
        (lambda: Q.fields("a", "pages", "b"), 2),
        (lambda: Q.where(pages=["*a*b*", "/c,d"], country="*x*"), 3),
    ):
        with pytest.raises(InvalidInputError) as caught:
            call()
        assert len(caught.value.problems) == count


@pytest.mark.parametrize("version", range(1, 7))
def test_the_fields_of_a_contains_search_by_version(version: int, respond: Any) -> None:
    """Version 1 ignores fields, version 2 always gives the pages."""
    for fields in ("visitors", "visitors,pages"):
        params = {"page": SEARCH, "fields": fields, "version": str(version)}
        good = version == 1 or (version > 2 and fields == "visitors")
        assert (broken_rules(params) == set()) is good
        assert (respond(params).status_code == 200) is good


def test_a_contains_search_needs_a_key() -> None:
    """Without a key a contains search is refused, for a public website too (5)."""
    emulator = Emulator(now=NOW)
    emulator.add_website("example.com", public=True)
    with bare_client(emulator, key=None) as client:
        assert client.get(address({"page": SEARCH})).status_code == 400
        assert client.get(address({"page": "/abcdefghijkl*"})).status_code == 200
    assert broken_rules({"page": SEARCH}, has_key=False) == {"contains-key"}
    assert read({"page": SEARCH}).problems() == ()


def test_a_page_in_the_address_excludes_page_filters() -> None:
    """The address names a page already."""
    emulator = Emulator(now=NOW)
    emulator.add_website("example.com")
    with bare_client(emulator) as client:
        for filters in ({"page": "/a"}, {"pages": "/a"}, {"page": SEARCH}):
            query = Q.path("/a").where(**filters)
            assert [p.rule for p in query.problems()] == ["path-or-page"]
            response = client.get("/example.com/a.json", params=query.params())
            assert response.status_code == 400
            assert ("exactly one" in response.text) is (SEARCH in filters.values())


@MAY_WARN
@pytest.mark.parametrize("params", LEFT_TO_THE_SERVICE, ids=str)
def test_what_only_the_service_can_refuse(params: Any, respond: Any) -> None:
    """It depends on today, or on a limit of the emulator alone."""
    assert read(params).problems(has_key=True) == ()
    assert respond(params).status_code == 400


WARNED: dict[str, Callable[[], StatsQuery]] = {
    "metadata-suffix": lambda: Q.where_metadata(price_int=5),
    "metadata-star": lambda: Q.where_metadata(plan="pro*"),
    "page-slash": lambda: Q.where(pages=["/a", "b*"]),
    "page-path": lambda: Q.where(pages=["/a", "/b?c=d"]),
    "page-pattern": lambda: Q.where(page="/blog/.*"),
    "country-code": lambda: Q.where(country="Germany"),
    "referrer-normalized": lambda: Q.where(referrer="HTTPS://www.google.com"),
}


def test_usual_values_do_not_warn() -> None:
    """A warning of what is right would be read past."""
    Q.where(referrer="google", country="NL", page="/a", device_type="t*")
    Q.where(pages=["/a", "/b*"]).where_metadata(plan="pro", price=5)


@pytest.mark.parametrize("rule", WARNED)
def test_what_probably_means_something_else_warns(rule: str) -> None:
    """It is sent, with a warning at the caller's line that cites the section."""
    with pytest.warns(SiteStatsWarning, match=f"section {RULES[rule]}") as told:
        WARNED[rule]()
    assert [warning.filename for warning in told] == [__file__]


CALLBACKS = {
    **dict.fromkeys(("show", "$.a_1.b", "_", "a.b.c", "jQuery123_456"), True),
    **dict.fromkeys(
        ("", "1a", "a-b", "a b", "alert(1)", "a..b", ".a", "é", "a[0]"), False
    ),
}


@pytest.mark.parametrize(("name", "good"), CALLBACKS.items())
def test_both_sides_agree_on_callbacks(name: str, good: bool, respond: Any) -> None:  # noqa: FBT001 - parametrized
    """A callback is one or more identifiers and dots."""
    assert (respond({"callback": name}).status_code == 200) is good
    with opened("blocking", with_website()) as client:
        if good:
            assert client.stats.get_jsonp(Q, callback=name).startswith(f"{name}(")
        else:
            with pytest.raises(InvalidInputError):
                client.stats.get_jsonp(Q, callback=name)


ADDED: dict[str, dict[bool, list[Any]]] = {
    "hostname": {
        True: ["a.example", "A.Example.", "a_b.example", "xn--bcher-kva.example"],
        False: [
            *("", "localhost", "a..example", "-a.example", "127.0.0.1", "a b.example"),
            *("https://a.example", "a.b/c", "a.b:80", "*.example", None),
            f"{'a' * 64}.example",
        ],
    },
    "isPublic": {True: [True, False], False: ["true", None, 1]},
    "label": {True: ["", "é\n"], False: [5, ["a"], True]},
}
"""The values of a website that may be added, and those that may not."""


@pytest.mark.parametrize("name", ADDED)
def test_both_sides_agree_on_adding(name: str) -> None:
    """The same values of a website are accepted and refused (4.2)."""
    argument = {"isPublic": "public"}.get(name, name)
    for is_good, values in ADDED[name].items():
        for value in values:
            payload = {"hostname": "new.example", name: value}
            assert (add(Emulator(), payload).status_code == 200) is is_good, payload
            arguments = {"hostname": "new.example", argument: value}
            with opened("blocking", Emulator()) as client:
                if is_good:
                    client.websites.add(arguments.pop("hostname"), **arguments)
                    continue
                with pytest.raises(InvalidInputError):
                    client.websites.add(arguments.pop("hostname"), **arguments)


def test_every_rule_is_tested() -> None:
    """Each rule of the table is broken by a case above."""
    across = {rule for rule, _ in POINTS.values()}
    assert {*BROKEN, *WRONG, *CALLS, *across, *WARNED} == set(RULES)


# -- anything else

NAMES = [
    *("version", "start", "end", "limit", "timezone", "info", "events", "interval"),
    *("fields", *FILTERS, "metadata.a"),
]
NEAR = st.sampled_from(
    [value for cases in BROKEN.values() for case in cases for value in case.values()]
)
FAR = st.text(st.sampled_from("*,/-0123456789abdtyTZ:. é\n"), max_size=16)
SERVICE = with_website()
"""For properties: a fixture would be made anew for each example."""


@MAY_WARN
@settings(max_examples=settings().max_examples * 5)
@given(st.dictionaries(st.sampled_from(NAMES), NEAR | FAR, max_size=3))
def test_both_sides_agree_on_any_text(params: dict[str, str]) -> None:
    """Builder and emulator accept and refuse the same texts, alone and together."""
    for name in ("version", "limit"):
        # An address that is read back may write a number with zeros.
        params[name] = params.get(name, str(SENT_VERSION)).lstrip("0") or "x"
    good = broken_rules(params) == set()
    with bare_client(SERVICE) as client:
        response = client.get(address(params))
    # The builder does not know which day is today.
    is_good = response.status_code == 200 or (good and "is after end" in response.text)
    assert is_good is good, response.text


@MAY_WARN
@given(queries())
def test_a_valid_query_is_accepted(query: StatsQuery) -> None:
    """What the steps make of valid arguments breaks no rule of the service."""
    params = query.params()
    if "fields" in params:
        # Of the hours of decades, which take seconds.
        params["fields"] = params["fields"].replace("histogram", "visitors")
    with bare_client(SERVICE) as client:
        response = client.get("/example.com.json", params=params)
    assert response.status_code == 200 or "is after end" in response.text
