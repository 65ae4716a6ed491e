"""Differential test: the builder and the emulator accept the same queries.

Both were written from the service's document, each without the other. A query
that the builder refuses is sent unchecked, and must get 400; one that it accepts
must get 200. Where they differ on purpose, ``MEANT`` says so by name.
"""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from functools import cache
from operator import methodcaller
from typing import Any, Final
from unicodedata import category
from urllib.parse import quote
from zoneinfo import ZoneInfo, available_timezones

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hostile_queries import HALF, LONG, NOW, Case, altered, generated
from query_strategies import queries
from sitestats._common.errors import InvalidInputError, QueryError
from sitestats._common.fields import FIELDS
from sitestats._common.problems import Problem
from sitestats._protocol.requests import add_request, jsonp_request, stats_request
from sitestats._query import filters as filter_rules
from sitestats._query.builder import StatsQuery, requested
from sitestats._query.rules import FILTERS, RULES
from sitestats.emulator import Emulator
from sitestats.emulator._aggregate import Numbers
from sitestats.emulator._http import RecordedRequest
from sitestats.emulator._parameters import Query
from sitestats.emulator._service import Service

pytestmark = [pytest.mark.slow, pytest.mark.once]

QUERIES: Final = 1_000 + 45 * settings().max_examples
"""How many queries one run generates: ``nox -s properties`` takes 100 times more."""
LEAST: Final = 4
"""How often each rule is broken, and each difference met, in one run."""
COUNTED: Final = 10
"""One accepted query in so many is counted in the database, too."""
SEED: Final = 20_260_315

ELSEWHERE: Final = frozenset(
    {
        # Reading an address that is none, and the endpoints that the document
        # leaves open, are nothing that the emulator could check.
        "address",
        "address-parameter",
        "address-page",
        # What is sent of a unit of the calendar are its dates.
        "period-unit",
        "period-words",
        # No case is that long.
        "address-length",
        "custom-method",
        "custom-path",
        "custom-params",
        "custom-body",
        # Checked by the two tests at the end.
        "callback-name",
        "website-hostname",
        "website-timezone",
        "website-public",
        "website-label",
    }
)
"""The rules that no statistics query can break."""
ADDRESSES: Final = frozenset(
    {"hostname", "path-slash", "path-root", "path-dots", "text"}
)
"""What makes an address that leads to no website: 404 (observed), not 400."""


NAMES_OF_ZONES: Final = available_timezones()

SINGLE: Final = ("timezone", "interval", "limit", "version", "info")
"""The steps for one value, which have the names of their parameters."""


# -- the builder's verdict


def build(case: Case) -> tuple[StatsQuery | None, list[Problem]]:
    """The query, or the problems that its steps and ``problems`` report."""
    problems: list[Problem] = []

    query = StatsQuery("example.com")
    for step in steps(case):
        try:
            query = step(query)
        except QueryError as error:
            problems += error.problems
    if not problems:
        problems += query.problems(case.has_key)
    return (None, problems) if problems else (query, [])


def steps(case: Case) -> Iterator[Callable[[StatsQuery], StatsQuery]]:
    """The steps that *case* takes."""
    arguments: dict[str, tuple[Any, ...] | None] = {
        "website": (case.hostname,),
        "path": one(case.path),
        "fields": case.fields,
        "events": case.events,
        "between": (case.start, case.end),
        **{name: one(getattr(case, name)) for name in SINGLE},
    }
    if case.events == ("*",):
        arguments |= {"events": None, "all_events": ()}
    if case.last is not None:
        arguments["between"] = None
        yield methodcaller("last", case.last[0], today=case.last[1])
    for name, values in arguments.items():
        if values is not None:
            yield methodcaller(name, *values)
    yield methodcaller("where", **case.filters)
    yield methodcaller("where_metadata", case.metadata)
    for name, value in case.extra.items():
        yield methodcaller("extra_param", name, value)
    if case.twice:
        yield methodcaller("from_url", f"https://stats.example{target(case)}")


def one(value: Any) -> tuple[Any, ...] | None:
    """The arguments of a step that takes one."""
    return None if value is None else (value,)


# -- past the builder


def target(case: Case) -> str:
    """The request target that a program without any checks would send."""
    path = f"/{case.hostname}{case.path or ''}"
    pairs: list[tuple[str, Any]] = [("version", case.version), ("info", case.info)]
    if case.fields is not None:
        pairs.append(("fields", listed(case.fields)))
    if case.events is not None:
        pairs.append(("events", listed(case.events)))
    if case.last is not None:
        days, today = case.last
        start = days - 1 if today is True and isinstance(days, int) else days
        pairs.append(("start", f"today-{start}d"))
        pairs.append(("end", "today" if today is True else "yesterday"))
    else:
        pairs += [
            (name, day_in(case.timezone, getattr(case, name)))
            for name in ("start", "end")
        ]
    pairs += [(name, getattr(case, name)) for name in ("timezone", "interval", "limit")]
    pairs += [
        (name, listed(value) if isinstance(value, list) else value)
        for name, value in case.filters.items()
    ]
    pairs += [(f"metadata.{key}", value) for key, value in case.metadata.items()]
    pairs += case.extra.items()
    if case.twice:
        pairs.append(("version", case.version))
    query = "&".join(
        f"{encoded(text(name))}={encoded(text(value, flags=name != 'version'))}"
        for name, value in pairs
        if value is not None
    )
    return f"{encoded(path, safe='/')}.json?{query}"


def day_in(zone: Any, value: Any) -> Any:
    """The day of a moment in the query's zone, where it has a valid one."""
    if isinstance(value, datetime) and value.tzinfo and zone in NAMES_OF_ZONES:
        return value.astimezone(ZoneInfo(zone)).date()
    return value


def encoded(value: str, safe: str = "") -> str:
    """Percent-encoded, including what must not be encoded."""
    return quote(value, safe=safe, errors="surrogatepass")


def listed(values: Any) -> str:
    """Values as they are listed in one parameter."""
    return ",".join(map(text, values))


def text(value: Any, *, flags: bool = True) -> str:
    """A value as a program without any checks would write it."""
    if flags and isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime | date):
        return value.isoformat()
    return str(value)


# -- the emulator's verdict


class CheckingService(Service):
    """The emulator's service, with most of the counting left out."""

    accepted: int = 0

    def _count(self, hostname: str, query: Query) -> Numbers:
        self.accepted += 1
        if self.accepted % COUNTED == 0:
            return super()._count(hostname, query)
        # Millions of empty entries would show nothing but patience.
        return Numbers(lists={name: [] for name in FIELDS})


@cache
def small_emulator() -> Emulator:
    """One public website with three rows, and no rate limit of searches."""
    emulator = Emulator(now=NOW, contains_per_minute=None)
    emulator.add_website("example.com", public=True)
    emulator.load(
        {
            "hostname": "example.com",
            "added_iso": "2026-03-14T12:00:00Z",
            "path": path,
            "metadata.plan_text": "pro",
        }
        for path in ("/", "/blog", f"/{LONG}")
    )
    return emulator


def checking_service() -> CheckingService:
    """The service of `small_emulator`, without counting."""
    service = small_emulator()._core.service
    return CheckingService(
        rows=service.rows,
        now=service.now,
        user_id=service.user_id,
        keys=service.keys,
        contains_per_minute=None,
        websites=service.websites,
    )


def status(service: Service, address: str, *, has_key: bool = True) -> int:
    """The status that the service responds with."""
    headers = [("Api-Key", small_emulator().api_key)] if has_key else []
    return service.respond(RecordedRequest.of("GET", address, headers)).status


# -- the differences that are meant


@attrs.frozen
class Difference:
    """What only one side refuses, on purpose."""

    reason: str
    section: str
    """Of the service's document: what it states, or where it is silent."""
    understood: Callable[[Case], Case] | None = None
    """The case as the service understands it, where the builder is stricter."""
    refused: Callable[[StatsQuery], bool] | None = None
    """Whether the service refuses it, where the builder can't tell."""


def _untyped(case: Case) -> Case:
    """Everything as the text that arrives."""

    def number(value: Any) -> Any:
        return int(value) if isinstance(value, str) and str_is_number(value) else value

    def kept(value: Any, good: type | tuple[type, ...]) -> Any:
        return value if isinstance(value, good) else text(value)

    return altered(
        case,
        fields=case.fields and tuple(kept(name, str) for name in case.fields),
        events=case.events and tuple(kept(name, str) for name in case.events),
        limit=number(case.limit),
        version=number(case.version),
        filters={
            name: [kept(item, str) for item in value]
            if isinstance(value, list)
            else kept(value, str)
            for name, value in case.filters.items()
        },
        metadata={
            text(key): value if plain_metadata(value) else text(value)
            for key, value in case.metadata.items()
        },
        extra={
            name: kept(value, (str, bool, int)) for name, value in case.extra.items()
        },
    )


def str_is_number(value: str) -> bool:
    """Whether it is a number as a program prints it."""
    return value.isdecimal() and value.isascii() and str(int(value)) == value


def plain_metadata(value: Any) -> bool:
    """Whether a metadata value has a text of its own (section 4.3)."""
    if isinstance(value, datetime):
        return value.tzinfo is not None
    return isinstance(value, str | bool | int) or (
        isinstance(value, float) and abs(value) < float("inf")
    )


def _split(case: Case) -> Case:
    """Commas as the separators that they are within a parameter."""

    def parts(values: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(part for value in values for part in text(value).split(","))

    filters = dict(case.filters)
    if isinstance(pages := filters.get("pages"), str | list):
        several = pages if isinstance(pages, list) else [pages]
        if any("," in page for page in several):
            filters["pages"] = list(parts(tuple(several)))
    return altered(
        case,
        fields=case.fields and parts(case.fields),
        events=case.events and parts(case.events),
        filters=filters,
    )


def _known(case: Case) -> Case:
    """Without the parameters that the document does not name."""
    return altered(
        case,
        filters={name: case.filters[name] for name in case.filters if name in FILTERS},
        extra={name: value for name, value in case.extra.items() if name},
    )


def _without_callback(case: Case) -> Case:
    extra = {name: case.extra[name] for name in case.extra if name != "callback"}
    return altered(case, extra=extra)


def _mended_text(case: Case) -> Case:
    """Replacement characters for what was no UTF-8, except in the address."""

    def mended(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return type(value)(map(mended, value))
        return value.replace(HALF, "\ufffd") if isinstance(value, str) else value

    def values(pairs: dict[Any, Any]) -> dict[Any, Any]:
        return {mended(name): mended(value) for name, value in pairs.items()}

    return altered(
        case,
        events=mended(case.events),
        filters=values(case.filters),
        metadata={key: mended(value) for key, value in case.metadata.items()},
        extra=values(case.extra),
    )


def _printable(case: Case) -> Case:
    if case.path is None:
        return case
    return altered(
        case, path="".join("x" if category(c) == "Cc" else c for c in case.path)
    )


def _known_fields(case: Case) -> Case:
    """Without the fields that versions 1 and 2 ignore, as they ignore all of them."""
    if case.fields is None or case.version not in {1, 2}:
        return case
    known = tuple(name for name in case.fields if name in FIELDS)
    return altered(case, fields=known or ("pageviews",))


def _nearer(case: Case) -> Case:
    """A placeholder that the builder takes instead of one of long ago."""
    if case.last is not None and case.last[0] == 100_000:
        return altered(case, last=(99_999, case.last[1]))
    far = isinstance(case.start, str) and case.start == "today-100000d"
    return altered(case, start="today-99999d") if far else case


def _period(query: StatsQuery) -> tuple[date, date]:
    """The days of a query that the builder has let through."""
    params = query.params()
    today = NOW.astimezone(ZoneInfo(params.get("timezone", "UTC"))).date()

    def day(text: str) -> date:
        if text.startswith("today"):
            return today - timedelta(days=int(text[6:-1] or 0))
        if text == "yesterday":
            return today - timedelta(days=1)
        return date.fromisoformat(text)

    month_ago = today.replace(month=today.month - 1)
    return (
        day(params["start"]) if "start" in params else month_ago,
        day(params.get("end", "today")),
    )


def _backwards(query: StatsQuery) -> bool:
    start, end = _period(query)
    return start > end


def _endless(query: StatsQuery) -> bool:
    start, end = _period(query)
    params = query.params()
    old = params["version"] in {"1", "2"}
    if not old and "histogram" not in params.get("fields", ""):
        return False
    per_day = {"hour": 24.0, "week": 1 / 7, "month": 1 / 28, "year": 1 / 365}
    share = 1.0 if old else per_day.get(params.get("interval", "day"), 1.0)
    return ((end - start).days + 1) * share > 200_000


MEANT: Final = {
    "types": Difference(
        "The builder takes a number as an int and text as a str; all of them arrive "
        "as text, and 5 looks like '5'.",
        "4.3",
        understood=_untyped,
    ),
    "commas": Difference(
        "The builder takes one name an argument, and so finds a comma that would "
        "silently make two; in a parameter the comma is the separator.",
        "4.3",
        understood=_split,
    ),
    "unknown parameters": Difference(
        "The builder refuses a name that the document does not have, as the service "
        "ignores it and the numbers would be those of another question.",
        "4.3",
        understood=_known,
    ),
    "callback": Difference(
        "The builder has the callback with one call instead of in the query, since "
        "the response is a script then; the service takes it with any query.",
        "4.3",
        understood=_without_callback,
    ),
    "broken text": Difference(
        "What is no UTF-8 arrives as replacement characters, which are text.",
        "4.3",
        understood=_mended_text,
    ),
    "control characters": Difference(
        "The builder keeps line breaks and the like out of addresses, which end in "
        "logs; the document says nothing about the characters of a path.",
        "4.3",
        understood=_printable,
    ),
    "long ago": Difference(
        "The builder takes placeholders of up to 99,999 days, so that each is a date "
        "whatever today is; the document shows no bound.",
        "4.3",
        understood=_nearer,
    ),
    "ignored fields": Difference(
        "The builder refuses a field that the document does not have in every version; "
        "versions 1 and 2 ignore the whole parameter.",
        "9",
        understood=_known_fields,
    ),
    "today": Difference(
        "Whether a date is before a placeholder, or before what stands in for a "
        "missing start or end, depends on today: the builder has no clock.",
        "8",
        refused=_backwards,
    ),
    "endless histograms": Difference(
        "The emulator refuses a histogram of more than 200,000 entries, to keep the "
        "memory; the document has no such limit, so the builder has none.",
        "8",
        refused=_endless,
    ),
}
"""Every difference that is meant, by name."""
STRICTER: Final = [name for name, one in MEANT.items() if one.understood]


# -- the tests


@attrs.define
class Mix:
    """Counts of what the generated queries were."""

    accepted: int = 0
    refused: int = 0
    several: int = 0
    """Queries that broke more than one rule."""
    rules: Counter[str] = attrs.field(factory=Counter[str])
    meant: Counter[str] = attrs.field(factory=Counter[str])
    """Differences that were met alone, so that nothing else explains them."""

    def __str__(self) -> str:
        return (
            f"{self.accepted:,} accepted, {self.refused:,} refused, "
            f"{self.several:,} of them by several rules; differences: "
            f"{dict(self.meant)}; rules: {dict(self.rules.most_common())}"
        )


def expected(case: Case, mix: Mix) -> tuple[int, str]:
    """The status that the emulator must return, and the request target.

    Notes in *mix* what was met.
    """
    query, problems = build(case)
    rules = {problem.rule for problem in problems}
    mix.rules.update(rules)
    mix.several += len(rules) > 1
    address = target(case)
    met: list[str] = []
    if query is None:
        mix.refused += 1
        understood = case
        for name in STRICTER:
            rewrite = MEANT[name].understood
            assert rewrite
            changed = rewrite(understood)
            if changed != understood:
                met.append(name)
                understood = changed
        query, problems = build(understood)
    else:
        mix.accepted += 1
        address = stats_request(requested(query)).target
        mix.rules.update(
            problem.rule
            for name, value in query.params().items()
            for problem in filter_rules.unlikely(name, value)
        )
    if query is None:
        lost = ADDRESSES.intersection(problem.rule for problem in problems)
        return (404 if lost - {"text"} or lost_text(case) else 400), address
    looser = [name for name, one in MEANT.items() if one.refused and one.refused(query)]
    if len(met) + len(looser) == 1:
        mix.meant.update(met + looser)
    return (400 if looser else 200), address


def lost_text(case: Case) -> bool:
    """Whether the address itself is no UTF-8."""
    return HALF in (case.path or "")


@pytest.fixture(scope="module")
def mix() -> Mix:
    """Run the queries: the counts, with no unexpected difference."""
    found, service = Mix(), checking_service()
    wrong: list[str] = []
    with warnings.catch_warnings():
        # Of filters that are probably not what is meant: counted by their rules.
        warnings.simplefilter("ignore")
        for case in generated(QUERIES, SEED):
            status_wanted, address = expected(case, found)
            got = status(service, address, has_key=case.has_key)
            if got != status_wanted:
                wrong.append(f"{got} instead of {status_wanted}: {case} {address}")
    assert wrong == [], "\n".join([f"{len(wrong)} disagreements:", *wrong[:20]])
    assert service.accepted // COUNTED >= 25
    return found


@pytest.mark.hypothesis
def test_the_two_agree_on_every_query(mix: Mix) -> None:
    """Builder and emulator accept the same of more than a thousand queries."""
    print(mix)  # noqa: T201 - the figures, with pytest -s
    assert mix.accepted + mix.refused == QUERIES
    assert mix.accepted >= QUERIES // 5
    assert mix.refused >= QUERIES // 3
    assert mix.several >= QUERIES // 10


def test_every_rule_was_broken(mix: Mix) -> None:
    """Each rule that a query can break was broken often enough."""
    rules = RULES.keys() - ELSEWHERE
    assert {rule: mix.rules[rule] for rule in rules if mix.rules[rule] < LEAST} == {}
    assert RULES.keys() >= ELSEWHERE


def test_every_difference_still_occurs(mix: Mix) -> None:
    """A difference that no longer occurs must leave the list."""
    assert {name for name in MEANT if mix.meant[name] < LEAST} == set()


def test_the_differences_are_explained() -> None:
    """Each listed difference has a sentence, a section and a direction."""
    for difference in MEANT.values():
        assert difference.reason.endswith(".")
        assert difference.section in {rule.section for rule in RULES.values()}
        assert (difference.understood is None) != (difference.refused is None)


@pytest.mark.filterwarnings("ignore::sitestats.SiteStatsWarning")
@settings(max_examples=settings().max_examples * 3 // 10)
@given(query=queries())
def test_the_emulator_accepts_what_the_builder_accepts(query: StatsQuery) -> None:
    """A valid query gets 200, unless its period is a listed difference."""
    query = query.website("example.com")
    refused = [one.refused for one in MEANT.values() if one.refused]
    wanted = 400 if any(is_refused(query) for is_refused in refused) else 200
    assert query.problems(has_key=True) == ()
    got = status(small_emulator()._core.service, stats_request(requested(query)).target)
    assert got == wanted


NAMES: Final = [
    *("version", "start", "end", "limit", "timezone", "info", "events", "interval"),
    *("fields", *FILTERS, "metadata.a"),
]
# Near what the parameters take, and far.
VALUES: Final = st.sampled_from(
    ["", "*", ",", "a,b", "6", "06", "today", "today-01d", "true", "UTC", "hour", "tv"]
) | st.text(st.sampled_from("*,/-0123456789abdtyTZ:. é\n"), max_size=16)


@settings(max_examples=settings().max_examples * 3)
@given(name=st.sampled_from(NAMES), value=VALUES)
def test_any_text_in_any_parameter(name: str, value: str) -> None:
    """Both sides agree on an address with any text in any parameter."""
    pairs = {"version": "6", "fields": "pageviews", name: value}
    address = "/example.com.json?" + "&".join(
        f"{key}={encoded(text)}" for key, text in pairs.items()
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        query = StatsQuery.from_url(f"https://stats.example{address}")
    refused = [one.refused for one in MEANT.values() if one.refused]
    good = not query.problems(has_key=True)
    good = good and not any(is_refused(query) for is_refused in refused)
    # A number may be written with zeros in an address that is read back.
    if name in {"version", "limit"} and value.startswith("0"):
        good = False
    assert status(checking_service(), address) == (200 if good else 400)


CALLBACKS: Final = [
    *("show", "$.a_1.b", "_", "a.b.c", "$", "jQuery123_456"),
    *(
        "",
        "1a",
        "a-b",
        "a b",
        "alert(1)",
        "a..b",
        ".a",
        "a.",
        "é",
        "a\n",
        "a;b",
        "a[0]",
    ),
]
RESERVED: Final = ["new", "a.class", "null", "this.b", "await"]
"""The client's alone: the document shows no rule for a callback's name."""


@pytest.mark.parametrize("callback", [*CALLBACKS, *RESERVED])
def test_callbacks(callback: str) -> None:
    """Both accept dotted identifiers as callback; the client refuses reserved words."""
    query = StatsQuery("example.com").fields("pageviews")
    address = f"{stats_request(requested(query)).target}&callback={encoded(callback)}"
    try:
        jsonp_request(requested(query), callback)
    except InvalidInputError:
        wanted = 200 if callback in RESERVED else 400
    else:
        wanted = 200
    assert status(checking_service(), address) == wanted


ADDED: Final[dict[str, list[Any]]] = {
    "hostname": [
        *("a.example", "A.Example.", "bücher.example", "a_b.example", "1.example"),
        *("xn--bcher-kva.example", f"{'a' * 63}.example", "_dmarc.a.example", "a.b1"),
        *("", "localhost", "a..example", ".a.example", "-a.example", "a-.example"),
        *("127.0.0.1", "1.2.3.4.5", "a.0x1f", "[::1]", "https://a.example", "a.b/c"),
        *("a.b:80", "a b.example", "a@b.example", f"{'a' * 64}.example", "*.example"),
        *(".".join(["abc"] * 64), "a.b?c", "a%2e.example", "a\n.example", "a.b..", "."),
        *("\uff41.example", "a。example", "☃.example", "a\u200db.example", None, 5),
    ],
    "isPublic": [True, False, "true", None, 1, 0],
    "label": ["", "a", "é\n", 5, ["a"], True],
    "timezone": ["UTC", "Europe/Amsterdam"],
}
UNKNOWN_ZONES: Final = ["utc", "", "Europe/Nowhere", "+02:00"]
"""The client's alone: the service would take UTC without a word (section 4.2)."""


@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name, values in ADDED.items() for value in values],
)
def test_adding(name: str, value: Any) -> None:
    """Client and emulator refuse the same websites, by the same rules."""
    payload: dict[str, Any] = {"hostname": "new.example", name: value}
    service = attrs.evolve(small_emulator()._core.service, websites={})
    try:
        request = add_request(
            payload["hostname"],
            timezone=payload.get("timezone"),
            public=payload.get("isPublic", False),
            label=payload.get("label"),
        )
        body, wanted = request.body, 200
    except InvalidInputError:
        body, wanted = json.dumps(payload).encode(), 400
    assert _added(service, body) == wanted


@pytest.mark.parametrize("zone", UNKNOWN_ZONES)
def test_adding_with_an_unknown_zone(zone: str) -> None:
    """The client refuses a zone that the service would silently replace by UTC."""
    with pytest.raises(InvalidInputError) as caught:
        add_request("new.example", timezone=zone)
    assert [problem.rule for problem in caught.value.problems] == ["website-timezone"]
    service = attrs.evolve(small_emulator()._core.service, websites={})
    payload = {"hostname": "new.example", "timezone": zone}
    assert _added(service, json.dumps(payload).encode()) == 200
    assert service.websites["new.example"].timezone == "UTC"


def _added(service: Service, body: bytes) -> int:
    headers = [
        ("Api-Key", small_emulator().api_key),
        ("User-Id", small_emulator().user_id),
        ("Content-Type", "application/json"),
    ]
    request = RecordedRequest.of("POST", "/api/websites/add", headers, body)
    return service.respond(request).status
